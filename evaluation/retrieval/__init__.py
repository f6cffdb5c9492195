"""Retrieval pages: scores of systems, comparisons, and rankings by other grades."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Systems",
    help="researchers#systems",
    section="systems",
    links=(
        NavLink(url_name="retrieval", carries="scoring"),
        NavLink(
            url_name="retrieval_compare", title="Pairwise comparison", order=10, carries="scoring"
        ),
        NavLink(
            url_name="retrieval_judges", title="Rankings by judge", order=20, carries="scoring"
        ),
        NavLink(
            url_name="retrieval_discriminative",
            title="Discriminative power",
            order=30,
            carries="scoring",
        ),
    ),
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
