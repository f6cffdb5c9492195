"""Two judges, or two runs, side by side."""

from django.urls import URLPattern, path

from judging.compare import views

urlpatterns: list[URLPattern] = [
    path("compare/", views.compare, name="judge_compare"),
    path("compare.csv", views.compare_csv, name="judge_compare_csv"),
]
