"""Import in the browser."""

from django.urls import URLPattern, path

from crux_site.imports import views

urlpatterns: list[URLPattern] = [
    path("", views.import_page, name="import"),
    path("<uuid:token>/", views.import_preview, name="import_preview"),
]
