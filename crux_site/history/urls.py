"""URLs of the history of a dataset, and of undoing an import."""

from django.urls import URLPattern, path

from crux_site.history import views

urlpatterns: list[URLPattern] = [
    path("history/", views.history, name="history"),
    path("history.csv", views.history_csv, name="history_csv"),
    path("history/<int:pk>/undo/", views.undo, name="import_undo"),
]
