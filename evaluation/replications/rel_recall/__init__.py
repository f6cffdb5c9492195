"""Recall of retrieved evidence: reports against Rel (all relevant) and Rel' (retrieved)."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Recall of retrieved evidence",
    help="researchers#recall-of-retrieved-evidence",
    section="systems",
    links=(NavLink(url_name="rel_recall", order=40, carries="common", text_kinds=("report",)),),
    shared=("rel_recall", "rel_recall_system", "rel_recall_table", "rel_recall_json"),
    shared_with_text=("rel_recall_items", "rel_recall_items_json"),
)
