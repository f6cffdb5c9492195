"""URLs of the grid page and its files."""

from django.urls import URLPattern, path

from evaluation.replications.crud_rag import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("reports-against-references/", views.grid, name="grid"),
    path("reports-against-references.json", views.grid_json, name="grid_json"),
    # Before the tables: the items of one system, and not the table `items`.
    path("reports-against-references/items.json", views.grid_items_json, name="grid_items_json"),
    *table_paths("reports-against-references/<slug:table>", views.grid_table_file, "grid_table"),
]
