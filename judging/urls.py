"""URLs of judges and their runs: each folder has its own."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("judging.replies.urls")),
    path("", include("judging.attempts.urls")),
    path("judges/", include("judging.compare.urls")),
    path("judges/", include("judging.judges.urls")),
    path("judge-runs/", include("judging.runs.urls")),
    path("", include("judging.endpoints.urls")),
]
