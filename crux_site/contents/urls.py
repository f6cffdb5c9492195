"""URLs of the pages that rename and remove entities of a dataset."""

from django.urls import URLPattern, path

from crux_site.contents import views

urlpatterns: list[URLPattern] = [
    path("contents/", views.contents, name="contents"),
    path("contents/<slug:kind>/", views.entity_page, name="entity"),
]
