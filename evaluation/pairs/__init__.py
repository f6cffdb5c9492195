"""The pairs behind a number, and one of them with everybody's spans over the text."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Disagreements",
    help="researchers#disagreements",
    section="disagreements",
    links=(NavLink(url_name="pairs", carries="selection", query="kind=differ"),),
    shared_with_text=("pairs", "pair"),
)
