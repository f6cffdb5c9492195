"""URLs of the retrieval pages."""

from django.urls import URLPattern, path

from evaluation.result_tables import table_paths
from evaluation.retrieval import views

urlpatterns: list[URLPattern] = [
    path("retrieval/", views.retrieval, name="retrieval"),
    path("retrieval/runs/<path:name>/", views.retrieval_run, name="retrieval_run"),
    path("retrieval/compare/", views.retrieval_compare, name="retrieval_compare"),
    path("retrieval/judges/", views.retrieval_judges, name="retrieval_judges"),
    path(
        "retrieval/discriminative/", views.retrieval_discriminative, name="retrieval_discriminative"
    ),
    path("retrieval/figure/<slug:name>/", views.retrieval_figure, name="retrieval_figure"),
    path("retrieval/relevance/", views.retrieval_relevance, name="retrieval_relevance"),
    *table_paths(
        "retrieval/relevance/<slug:name>",
        views.retrieval_relevance_table_file,
        "retrieval_relevance_table",
    ),
    *table_paths("retrieval/<slug:name>", views.retrieval_table_file, "retrieval_table"),
]
