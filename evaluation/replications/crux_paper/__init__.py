"""Tables and figures of the paper, computed from a dataset."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Paper",
    help="tables",
    section="paper",
    links=(NavLink(url_name="paper", carries="scoring"),),
    shared=("paper", "paper_file", "paper_zip"),
)
