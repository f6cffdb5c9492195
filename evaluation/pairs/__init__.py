"""The pairs behind a number, and one of them with everybody's spans over the text."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Disagreements",
    help="researchers#disagreements",
    tab=Tab(url_name="pairs", order=20, carries="selection", params={"kind": "differ"}),
    shared_with_text=("pairs", "pair"),
)
