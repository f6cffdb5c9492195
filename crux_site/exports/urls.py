"""The files of a dataset, each at an address of its own."""

from django.urls import URLPattern, path

from crux_site.exports import views

urlpatterns: list[URLPattern] = [
    path("exports/", views.exports, name="exports"),
    path("exports/<path:name>", views.file, name="export_file"),
    path("export/", views.export, name="export"),
]
