"""Import in the browser, of a study and of what replaces something of one."""

from django.urls import URLPattern, path

from crux_site.imports import views

urlpatterns: list[URLPattern] = [
    path("import/", views.import_page, name="import"),
    path("import/<uuid:token>/", views.import_preview, name="import_preview"),
    path("import/<uuid:token>/left-out.<str:ending>", views.left_out, name="import_left_out"),
    path("datasets/<slug:slug>/contents/<slug:kind>/replace/", views.replace, name="replace"),
]
