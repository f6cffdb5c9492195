"""Selection of reports to label next, and samples of reports."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Label next",
    help="researchers#label-next",
    tab=Tab(url_name="label_next", order=90, carries="selection"),
)
