"""Judges and their runs."""

from django.urls import URLPattern, URLResolver, include, path

from judging.views import judge_new, judges, run_acts, run_new, runs

judge_urls = [
    path("", judges.judges, name="judges"),
    path("new/", judge_new.judge_new, name="judge_new"),
    path("<int:pk>/", judges.judge, name="judge"),
]

run_urls = [
    path("", runs.judge_runs, name="judge_runs"),
    path("new/", run_new.judge_run_new, name="judge_run_new"),
    path("<int:pk>/", runs.judge_run, name="judge_run"),
    path("<int:pk>/failures/<slug:kind>/", runs.failures, name="judge_run_failures"),
    path("<int:pk>/pause/", run_acts.pause, name="judge_run_pause"),
    path("<int:pk>/cancel/", run_acts.cancel, name="judge_run_cancel"),
    path("<int:pk>/resume/", run_acts.resume, name="judge_run_resume"),
    path("<int:pk>/retry/", run_acts.retry, name="judge_run_retry"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    # Before ours: /judges/compare/ is a page of its own.
    path("", include("judging.look_urls")),
    path("judges/", include(judge_urls)),
    path("judge-runs/", include(run_urls)),
]
