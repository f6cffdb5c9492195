"""URLs of judge runs: list, detail, new, and the steps of one."""

from django.urls import URLPattern, path

from judging.runs import views

urlpatterns: list[URLPattern] = [
    path("", views.judge_runs, name="judge_runs"),
    path("new/", views.judge_run_new, name="judge_run_new"),
    path("<int:pk>/", views.judge_run, name="judge_run"),
    path("<int:pk>/failures/<slug:kind>/", views.failures, name="judge_run_failures"),
    path("<int:pk>/pause/", views.pause, name="judge_run_pause"),
    path("<int:pk>/cancel/", views.cancel, name="judge_run_cancel"),
    path("<int:pk>/resume/", views.resume, name="judge_run_resume"),
    path("<int:pk>/retry/", views.retry, name="judge_run_retry"),
]
