"""Tables and figures of the paper, computed from a dataset."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Tables and figures",
    help="tables",
    tab=Tab(url_name="paper", order=120, carries="scoring"),
    shared=("paper", "paper_file", "paper_zip"),
)
