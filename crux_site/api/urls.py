"""URLs of the API: the endpoints of all apps, the OpenAPI schema, and a page to try them."""

from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from crux_site.api.judge_tests import JudgeTestResult
from crux_site.api.ratings import RatingsParquet
from crux_site.api.tables import Tables
from crux_site.api.views import Schema, UnknownEndpoint, try_api

v1: list[URLPattern | URLResolver] = [
    path("", include("annotation.api.urls")),
    path(
        "datasets/<slug:dataset>/ratings/parquet/",
        RatingsParquet.as_view(),
        name="api_ratings_parquet",
    ),
    path("datasets/<slug:dataset>/tables/", Tables.as_view(), name="api_tables"),
    path("", include("evaluation.api.urls")),
    path("", include("judging.api.urls")),
    path("judge-runs/<int:id>/test/", JudgeTestResult.as_view(), name="api_judge_test"),
    path("schema/", Schema.as_view(), name="api_schema"),
    path("docs/", RedirectView.as_view(pattern_name="api_try")),
    path("docs/try/", try_api, name="api_try"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/", include(v1)),
    re_path(r"", UnknownEndpoint.as_view()),
]
