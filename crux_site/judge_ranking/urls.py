"""The ranking of the judges of a dataset, as a page and as files."""

from django.urls import URLPattern, path

from crux_site.judge_ranking import views

urlpatterns: list[URLPattern] = [
    path("judges/", views.judge_ranking, name="judge_ranking"),
    path("judges.csv", views.judge_ranking_csv, name="judge_ranking_csv"),
    path("judges.json", views.judge_ranking_json, name="judge_ranking_json"),
]
