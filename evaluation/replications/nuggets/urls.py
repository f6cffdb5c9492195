"""Nugget scores of a dataset, those of one report, and both as files."""

from django.urls import URLPattern, path

from evaluation.replications.nuggets import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("nuggets/", views.nuggets, name="nuggets"),
    path("nuggets.json", views.nuggets_json, name="nuggets_json"),
    *table_paths("nuggets/<slug:table>", views.nuggets_table_file, "nuggets_table"),
    path("nuggets/<int:pk>/", views.nuggets_report, name="nuggets_report"),
]
