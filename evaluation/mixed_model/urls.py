"""URLs of the mixed model page and its files."""

from django.urls import URLPattern, path

from evaluation.mixed_model import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("mixed-model/", views.mixed_model, name="mixed_model"),
    *table_paths("mixed-model/<slug:table>", views.mixed_model_table_file, "mixed_model_table"),
    path("mixed-model.json", views.mixed_model_json, name="mixed_model_json"),
]
