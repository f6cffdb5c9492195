"""URLs of the judge ranking, as a page and as files."""

from django.urls import URLPattern, path

from crux_site.judge_ranking import views
from evaluation.result_tables import PAGE_FORMATS, table_paths

urlpatterns: list[URLPattern] = [
    path("judges/", views.judge_ranking, name="judge_ranking"),
    *table_paths("judges", views.judge_ranking_table_file, "judge_ranking_table", PAGE_FORMATS),
    path("judges.json", views.judge_ranking_json, name="judge_ranking_json"),
]
