"""URLs of the import, of a study or of a replacement."""

from django.urls import URLPattern, path

from crux_site.imports import table_views, views

urlpatterns: list[URLPattern] = [
    path("import/", views.import_page, name="import"),
    path("import/new-dataset/", views.new_dataset, name="dataset_new"),
    path("import/table/", table_views.stage_table, name="import_table"),
    path("import/templates/<str:name>", table_views.template, name="import_template"),
    path("import/<uuid:token>/columns/", table_views.columns, name="import_columns"),
    path("import/<uuid:token>/mapping.json", table_views.mapping, name="import_mapping"),
    path("import/<uuid:token>/", views.import_preview, name="import_preview"),
    path("import/<uuid:token>/left-out.<str:ending>", views.left_out, name="import_left_out"),
    path("datasets/<slug:slug>/contents/<slug:kind>/replace/", views.replace, name="replace"),
]
