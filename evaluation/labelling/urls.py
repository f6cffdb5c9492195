"""URLs of the page Label next and of samples."""

from django.urls import URLPattern, path

from evaluation.labelling import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("label-next/", views.label_next, name="label_next"),
    *table_paths("label-next/<slug:table>", views.label_table_file, "label_table"),
    path("label-next/samples/<int:pk>/", views.label_sample, name="label_sample"),
    *table_paths(
        "label-next/samples/<int:pk>", views.label_sample_table_file, "label_sample_table"
    ),
]
