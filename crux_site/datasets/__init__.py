"""Overview of a dataset, and its export."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Overview",
    help="researchers#overview",
    section="overview",
    links=(NavLink(url_name="dataset"),),
    shared=("dataset", "filled_csv"),
)
