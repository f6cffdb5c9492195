"""Imports: upload, preview, errors, progress."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Import",
    help="admins#import",
    section="texts",
    links=(NavLink(url_name="import", scope="site", order=30, for_owners=True),),
)
