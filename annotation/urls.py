"""URLs of the annotation app; each folder has its own.

Those of one item are not here: the site has them before all others.
"""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("annotation.participation.urls")),
    path("campaigns/", include("annotation.builder.urls")),  # before those that begin with a slug
    path("campaigns/", include("annotation.adjudication.urls")),
    path("campaigns/", include("annotation.monitoring.urls")),
    path("rubrics/", include("annotation.rubrics.urls")),
    path("people/", include("annotation.people.urls")),
]
