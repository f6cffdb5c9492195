"""URLs of the grid page and its files."""

from django.urls import URLPattern, path

from evaluation.replications.crud_rag import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("grid/", views.grid, name="grid"),
    path("grid.json", views.grid_json, name="grid_json"),
    # Before the tables: the items of one system, and not the table `items`.
    path("grid/items.json", views.grid_items_json, name="grid_items_json"),
    *table_paths("grid/<slug:table>", views.grid_table_file, "grid_table"),
]
