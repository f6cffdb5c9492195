"""Rel and Rel', and the same as files."""

from django.urls import URLPattern, path

from evaluation.replications.rel_recall import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("evidence-recall/", views.rel_recall, name="rel_recall"),
    path(
        "evidence-recall/systems/<path:system>/", views.rel_recall_system, name="rel_recall_system"
    ),
    path("evidence-recall/items/<int:text_id>/", views.rel_recall_items, name="rel_recall_items"),
    path(
        "evidence-recall/items/<int:text_id>.json",
        views.rel_recall_items_json,
        name="rel_recall_items_json",
    ),
    path("evidence-recall/evidence-recall.json", views.rel_recall_json, name="rel_recall_json"),
    *table_paths("evidence-recall/<slug:table>", views.rel_recall_table_file, "rel_recall_table"),
]
