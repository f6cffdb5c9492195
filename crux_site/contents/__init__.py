"""Pages that rename and remove entities of a dataset: runs, raters, systems."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Rename, replace, remove",
    help="admins#history-and-what-can-be-undone",
    section="settings",
    links=(NavLink(url_name="contents", order=10, for_owners=True),),
)
