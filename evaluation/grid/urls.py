"""The grid, and what its page shows as files."""

from django.urls import URLPattern, path

from evaluation.grid import views

urlpatterns: list[URLPattern] = [
    path("grid/", views.grid, name="grid"),
    path("grid/<slug:table>.csv", views.grid_csv, name="grid_csv"),
    path("grid.json", views.grid_json, name="grid_json"),
    path("grid/items.json", views.grid_items_json, name="grid_items_json"),
]
