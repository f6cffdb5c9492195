"""Nugget scores of reports, and their ranking of systems compared with that by coverage."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Nuggets",
    help="researchers#nuggets",
    section="systems",
    links=(
        NavLink(
            url_name="nuggets", order=70, carries="common", rubrics=("importance", "nugget-support")
        ),
    ),
    shared=("nuggets", "nuggets_table", "nuggets_json"),
    shared_with_text=("nuggets_report",),
)
