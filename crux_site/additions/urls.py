"""URLs of the forms that add to a dataset."""

from django.urls import URLPattern, path

from crux_site.additions import views

urlpatterns: list[URLPattern] = [
    path("add/<slug:kind>/", views.add, name="add"),
]
