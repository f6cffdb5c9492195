"""Dataset page: contents, summary, export."""

from annotation.pages import Page

PAGE = Page(
    "Datasets",
    help="researchers#overview",
    shared=("dataset", "filled_csv"),
)
