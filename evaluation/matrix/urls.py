"""The rating matrices."""

from django.urls import URLPattern, path

from evaluation.matrix import views

urlpatterns: list[URLPattern] = [
    path("matrix/", views.matrices, name="matrices"),
    path("matrix.csv", views.matrices_csv, name="matrices_csv"),
    path("matrix/under/<slug:rubric>/", views.matrix_under, name="matrix_under"),
    path("matrix/<int:topic_id>/", views.matrix, name="matrix"),
    path("matrix/<int:topic_id>/<slug:table>.csv", views.matrix_csv, name="matrix_csv"),
]
