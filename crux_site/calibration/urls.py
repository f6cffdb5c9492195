"""Calibration, and what the page shows as files."""

from django.urls import URLPattern, path

from crux_site.calibration import views

urlpatterns: list[URLPattern] = [
    path("calibration/", views.calibration, name="calibration"),
    path("calibration/<slug:table>.csv", views.calibration_csv, name="calibration_csv"),
    path("calibration.json", views.calibration_json, name="calibration_json"),
]
