"""URLs of retrieval runs and numbers, below /api/v1/."""

from django.urls import URLPattern, path

from evaluation.api import certificates, numbers, runs

urlpatterns: list[URLPattern] = [
    path("datasets/<slug:dataset>/runs/", runs.Runs.as_view(), name="api_runs"),
    path(
        "datasets/<slug:dataset>/runs/<path:run>/ranking/",
        runs.Rankings.as_view(),
        name="api_rankings",
    ),
    path(
        "datasets/<slug:dataset>/certificates/",
        certificates.Certificates.as_view(),
        name="api_certificates",
    ),
    path(
        "datasets/<slug:dataset>/certificates/<slug:rubric>/<path:judge>/",
        certificates.OneCertificate.as_view(),
        name="api_certificate",
    ),
    path("datasets/<slug:dataset>/agreement/", numbers.Agreement.as_view(), name="api_agreement"),
    path("datasets/<slug:dataset>/scores/", numbers.Scores.as_view(), name="api_scores"),
]
