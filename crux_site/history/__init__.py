"""History of a dataset: who did what, and undo of imports."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "History",
    help="admins#history-and-what-can-be-undone",
    section="history",
    links=(NavLink(url_name="history"),),
)
