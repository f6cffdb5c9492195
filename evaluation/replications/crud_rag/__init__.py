"""Comparison grid: reports against references by task type and one varied setting."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Reports against references",
    help="researchers#reports-against-references",
    section="systems",
    links=(
        NavLink(url_name="grid", order=60, carries="common", text_kinds=("report", "reference")),
    ),
    shared=("grid", "grid_table", "grid_json", "grid_items_json"),
)
