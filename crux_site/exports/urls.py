"""URLs of the export page and of each export file."""

from django.urls import URLPattern, path

from crux_site.exports import views

urlpatterns: list[URLPattern] = [
    path("exports/", views.exports, name="exports"),
    path("exports/<path:name>", views.file, name="export_file"),
    path("export/", views.export, name="export"),
]
