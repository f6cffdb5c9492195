"""URLs of retrieval runs that are created here."""

from django.urls import URLPattern, path

from building.runs import views

urlpatterns: list[URLPattern] = [
    path("building/new-run/", views.run_new, name="run_new"),
    path("building/runs/<path:name>/", views.run_provenance, name="run_provenance"),
]
