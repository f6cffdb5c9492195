"""URLs of retrieval runs and numbers, below /api/v1/."""

from django.urls import URLPattern, path

from evaluation.api import numbers, runs

urlpatterns: list[URLPattern] = [
    path("datasets/<slug:dataset>/runs/", runs.Runs.as_view(), name="api_runs"),
    path(
        "datasets/<slug:dataset>/runs/<path:run>/ranking/",
        runs.Rankings.as_view(),
        name="api_rankings",
    ),
    path("datasets/<slug:dataset>/agreement/", numbers.Agreement.as_view(), name="api_agreement"),
    path("datasets/<slug:dataset>/scores/", numbers.Scores.as_view(), name="api_scores"),
]
