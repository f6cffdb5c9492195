"""URLs of the tests of a judge."""

from django.urls import URLPattern, path

from crux_site.judge_tests import views
from evaluation.result_tables import PAGE_FORMATS, table_paths

urlpatterns: list[URLPattern] = [
    path("tests/", views.judge_tests, name="judge_tests"),
    *table_paths("tests", views.judge_tests_table_file, "judge_tests_table", PAGE_FORMATS),
    path("tests.json", views.judge_tests_json, name="judge_tests_json"),
    path("tests/<int:run_pk>/", views.judge_test, name="judge_test"),
    path("tests/<int:run_pk>/replies.csv", views.judge_test_replies, name="judge_test_replies"),
]
