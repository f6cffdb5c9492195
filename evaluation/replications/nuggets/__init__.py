"""Nugget scores of reports, and their ranking of systems compared with that by coverage."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Nuggets",
    help="researchers#nuggets",
    tab=Tab(url_name="nuggets", order=110, rubrics=("importance", "nugget-support")),
    shared=("nuggets", "nuggets_table", "nuggets_json"),
    shared_with_text=("nuggets_report",),
)
