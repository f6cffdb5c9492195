"""Where a collection is built: all of it is about one dataset."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("building.search.urls")),
    path("", include("building.runs.urls")),
]
