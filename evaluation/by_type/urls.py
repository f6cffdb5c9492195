"""Recall by the type of the question, and what its page shows as files."""

from django.urls import URLPattern, path

from evaluation.by_type import views

urlpatterns: list[URLPattern] = [
    path("by-type/", views.by_type, name="by_type"),
    path("by-type.csv", views.by_type_csv, name="by_type_csv"),
    path("by-type.json", views.by_type_json, name="by_type_json"),
]
