"""The tables and figures of the paper, and the same as files."""

from django.urls import URLPattern, path

from evaluation.paper import views

urlpatterns: list[URLPattern] = [
    path("", views.paper, name="paper"),
    path("paper.zip", views.paper_zip, name="paper_zip"),
    path("<str:name>", views.paper_file, name="paper_file"),
]
