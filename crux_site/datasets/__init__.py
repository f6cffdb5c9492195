"""Dataset page: contents, summary, export."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Datasets",
    help="researchers#overview",
    section="overview",
    links=(NavLink(url_name="dataset"),),
    shared=("dataset", "filled_csv"),
)
