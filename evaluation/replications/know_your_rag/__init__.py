"""Recall by question type, over the weight of a lexical run fused with a dense one."""

from annotation.pages import Page, Tab

PAGE = Page(
    "By type of question",
    help="researchers#by-type-of-question",
    tab=Tab(url_name="by_type", order=60),
    shared=("by_type", "by_type_table", "by_type_json"),
)
