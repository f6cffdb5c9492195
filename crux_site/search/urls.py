"""URL of the search."""

from django.urls import URLPattern, path

from crux_site.search import views

urlpatterns: list[URLPattern] = [path("", views.search, name="search")]
