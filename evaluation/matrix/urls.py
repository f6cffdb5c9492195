"""URLs of the rating matrices."""

from django.urls import URLPattern, path

from evaluation.matrix import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("matrix/", views.matrices, name="matrices"),
    *table_paths("matrix", views.matrices_table_file, "matrices_table"),
    path("matrix/under/<slug:rubric>/", views.rubric_matrix_page, name="rubric_matrix"),
    path("matrix/<int:topic_id>/", views.matrix, name="matrix"),
    *table_paths("matrix/<int:topic_id>/<slug:table>", views.matrix_table_file, "matrix_table"),
]
