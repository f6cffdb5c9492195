"""URLs of the retrieval pages."""

from django.urls import URLPattern, path

from evaluation.result_tables import table_paths
from evaluation.retrieval import views

urlpatterns: list[URLPattern] = [
    path("systems/", views.retrieval, name="retrieval"),
    path("systems/runs/<path:name>/", views.retrieval_run, name="retrieval_run"),
    path("systems/compare/", views.retrieval_compare, name="retrieval_compare"),
    path("systems/judges/", views.retrieval_judges, name="retrieval_judges"),
    path(
        "systems/discriminative/", views.retrieval_discriminative, name="retrieval_discriminative"
    ),
    path("systems/figure/<slug:name>/", views.retrieval_figure, name="retrieval_figure"),
    path("systems/relevance/", views.retrieval_relevance, name="retrieval_relevance"),
    *table_paths(
        "systems/relevance/<slug:name>",
        views.retrieval_relevance_table_file,
        "retrieval_relevance_table",
    ),
    *table_paths("systems/<slug:name>", views.retrieval_table_file, "retrieval_table"),
]
