"""Retrieval pages: scores of systems, comparisons, and rankings by other grades."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Retrieval",
    help="researchers#retrieval",
    tab=Tab(url_name="retrieval", order=40, carries="scoring"),
    shared=(
        "retrieval",
        "retrieval_run",
        "retrieval_compare",
        "retrieval_judges",
        "retrieval_discriminative",
        "retrieval_figure",
        "retrieval_table",
        "retrieval_relevance",
        "retrieval_relevance_table",
    ),
)
