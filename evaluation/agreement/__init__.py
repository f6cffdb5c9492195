"""The agreement page: how far raters agree with each other, and a judge with them."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Agreement",
    help="researchers#agreement",
    section="agreement",
    links=(NavLink(url_name="agreement", carries="selection"),),
    shared=(
        "agreement",
        "agreement_with",
        "agreement_figure",
        "agreement_table",
        "agreement_json",
    ),
)
