"""Overview of how a collection was built."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Building",
    help="building#the-whole-pipeline-in-one-command",
    section="texts",
    links=(NavLink(url_name="building", order=5),),
)
