"""URLs of the tables and figures of the paper, and of their files."""

from django.urls import URLPattern, path

from evaluation.replications.crux_paper import views

urlpatterns: list[URLPattern] = [
    path("paper/", views.paper, name="paper"),
    path("paper/paper.zip", views.paper_zip, name="paper_zip"),
    path("paper/<str:name>", views.paper_file, name="paper_file"),
]
