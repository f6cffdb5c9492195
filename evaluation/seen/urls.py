"""Rel and Rel', and the same as files."""

from django.urls import URLPattern, path

from evaluation.seen import views

urlpatterns: list[URLPattern] = [
    path("", views.seen, name="seen"),
    path("systems/<path:system>/", views.seen_system, name="seen_system"),
    path("items/<int:text_id>/", views.seen_items, name="seen_items"),
    path("items/<int:text_id>.json", views.seen_items_json, name="seen_items_json"),
    path("seen.json", views.seen_json, name="seen_json"),
    path("<slug:table>.csv", views.seen_csv, name="seen_csv"),
]
