"""URLs of the calibration page and its files."""

from django.urls import URLPattern, path

from crux_site.calibration import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("calibration/", views.calibration, name="calibration"),
    path("calibration/figure/", views.calibration_figure, name="calibration_figure"),
    *table_paths("calibration/<slug:table>", views.calibration_table_file, "calibration_table"),
    path("calibration.json", views.calibration_json, name="calibration_json"),
]
