"""Nugget scores of a dataset, those of one report, and both as files."""

from django.urls import URLPattern, path

from evaluation.nuggets import views

urlpatterns: list[URLPattern] = [
    path("nuggets/", views.nuggets, name="nuggets"),
    path("nuggets.json", views.nuggets_json, name="nuggets_json"),
    path("nuggets/<slug:table>.csv", views.nuggets_csv, name="nuggets_csv"),
    path("nuggets/<int:pk>/", views.nuggets_report, name="nuggets_report"),
]
