"""Two rankings of a topic, side by side."""

from django.urls import URLPattern, path

from building.side_by_side import views

urlpatterns: list[URLPattern] = [
    path("building/side-by-side/", views.side_by_side, name="side_by_side")
]
