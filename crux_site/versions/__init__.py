"""Versions of texts and questions: edit, compare, restore."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Text history",
    help="admins#text-edits",
    section="history",
    links=(NavLink(url_name="versions", order=10),),
)
