"""Judges and their runs, below /api/v1/."""

from django.urls import URLPattern, path

from judging.api import views

urlpatterns: list[URLPattern] = [
    path("judges/", views.Judges.as_view(), name="api_judges"),
    path("judges/<slug:fingerprint>/", views.OneJudge.as_view(), name="api_judge"),
    path("judge-tests/", views.JudgeTests.as_view(), name="api_judge_tests"),
    path("judge-runs/", views.JudgeRuns.as_view(), name="api_judge_runs"),
    path("judge-runs/<int:id>/", views.OneRun.as_view(), name="api_judge_run"),
    path("judge-runs/<int:id>/pause/", views.Pause.as_view(), name="api_judge_run_pause"),
    path("judge-runs/<int:id>/cancel/", views.Cancel.as_view(), name="api_judge_run_cancel"),
    path("judge-runs/<int:id>/resume/", views.Resume.as_view(), name="api_judge_run_resume"),
]
