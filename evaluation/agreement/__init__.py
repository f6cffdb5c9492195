"""The agreement page: how far raters agree with each other, and a judge with them."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Agreement",
    help="researchers#agreement",
    tab=Tab(url_name="agreement", order=10, carries="selection"),
    shared=("agreement", "agreement_with", "agreement_table", "agreement_json"),
)
