"""Recall of retrieved evidence: reports against Rel (all relevant) and Rel' (retrieved)."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Recall of retrieved evidence",
    help="researchers#recall-of-retrieved-evidence",
    tab=Tab(url_name="rel_recall", order=50),
    shared=("rel_recall", "rel_recall_system", "rel_recall_table", "rel_recall_json"),
    shared_with_text=("rel_recall_items", "rel_recall_items_json"),
)
