"""Recall by the type of the question, and what its page shows as files."""

from django.urls import URLPattern, path

from evaluation.replications.know_your_rag import views
from evaluation.result_tables import PAGE_FORMATS, table_paths

urlpatterns: list[URLPattern] = [
    path("question-types/", views.by_type, name="by_type"),
    path("question-types/figure/", views.by_type_figure, name="by_type_figure"),
    *table_paths("question-types", views.by_type_table_file, "by_type_table", PAGE_FORMATS),
    path("question-types.json", views.by_type_json, name="by_type_json"),
]
