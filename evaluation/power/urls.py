"""URLs of the power page of a planned campaign and its files."""

from django.urls import URLPattern, path

from evaluation.power import views
from evaluation.result_tables import PAGE_FORMATS, table_paths

urlpatterns: list[URLPattern] = [
    path("power/", views.power, name="power"),
    *table_paths("power", views.power_table_file, "power_table", PAGE_FORMATS),
    path("power.json", views.power_json, name="power_json"),
]
