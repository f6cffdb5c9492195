"""Search page over the passages of a dataset."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Search in passages",
    help="building#search",
    section="texts",
    links=(NavLink(url_name="search_passages", order=10),),
)
