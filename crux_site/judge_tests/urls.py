"""URLs of the tests of a judge."""

from django.urls import URLPattern, path

from crux_site.judge_tests import views
from evaluation.result_tables import PAGE_FORMATS, table_paths

TESTS, TEST = "judges/<int:pk>/tests", "judge-runs/<int:pk>/test/"

urlpatterns: list[URLPattern] = [
    path(f"{TESTS}/", views.judge_tests, name="judge_tests"),
    *table_paths(TESTS, views.judge_tests_table_file, "judge_tests_table", PAGE_FORMATS),
    path(f"{TESTS}.json", views.judge_tests_json, name="judge_tests_json"),
    path(TEST, views.judge_test, name="judge_test"),
    path(f"{TEST}replies.csv", views.judge_test_replies, name="judge_test_replies"),
]
