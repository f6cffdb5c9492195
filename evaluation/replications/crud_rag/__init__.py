"""Comparison grid: reports against references by task type and one varied setting."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Reports against references",
    help="researchers#reports-against-references",
    tab=Tab(url_name="grid", order=100, text_kinds=("report", "reference")),
    shared=("grid", "grid_table", "grid_json", "grid_items_json"),
)
