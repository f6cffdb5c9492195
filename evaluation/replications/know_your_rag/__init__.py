"""Recall by question type, over the weight of a lexical run fused with a dense one."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Question types",
    help="researchers#question-types",
    section="systems",
    links=(NavLink(url_name="by_type", order=50, carries="common", min_runs=2),),
    shared=("by_type", "by_type_figure", "by_type_table", "by_type_json"),
)
