"""URLs of building a collection, all within one dataset."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("building.overview.urls")),
    path("", include("building.search.urls")),
    path("", include("building.side_by_side.urls")),
    path("", include("building.writings.urls")),
    path("", include("building.review.urls")),
    path("", include("building.filtering.urls")),
    path("", include("building.reports.urls")),
    path("", include("building.runs.urls")),
]
