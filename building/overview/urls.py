"""URL of the build overview."""

from django.urls import URLPattern, path

from building.overview import views

urlpatterns: list[URLPattern] = [path("building/", views.building, name="building")]
