"""Rel and Rel', and the same as files."""

from django.urls import URLPattern, path

from evaluation.replications.rel_recall import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("seen/", views.rel_recall, name="rel_recall"),
    path("seen/systems/<path:system>/", views.rel_recall_system, name="rel_recall_system"),
    path("seen/items/<int:text_id>/", views.rel_recall_items, name="rel_recall_items"),
    path(
        "seen/items/<int:text_id>.json", views.rel_recall_items_json, name="rel_recall_items_json"
    ),
    path("seen/seen.json", views.rel_recall_json, name="rel_recall_json"),
    *table_paths("seen/<slug:table>", views.rel_recall_table_file, "rel_recall_table"),
]
