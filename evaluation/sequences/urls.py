"""URLs of plans of labels and of label sequences."""

from django.urls import URLPattern, path

from evaluation.result_tables import table_paths
from evaluation.sequences import views

urlpatterns: list[URLPattern] = [
    path("sequences/", views.label_sequences, name="label_sequences"),
    path("sequences/<int:pk>/", views.label_sequence, name="label_sequence"),
    *table_paths("sequences/<int:pk>", views.label_sequence_table, "label_sequence_table"),
]
