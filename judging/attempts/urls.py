"""All attempts of a judge or of a run, as files."""

from django.urls import URLPattern, path

from judging.attempts import views

urlpatterns: list[URLPattern] = [
    path("judges/<int:pk>/attempts.<slug:form>", views.judge_attempts, name="judge_attempts"),
    path("judge-runs/<int:pk>/attempts.<slug:form>", views.run_attempts, name="judge_run_attempts"),
]
