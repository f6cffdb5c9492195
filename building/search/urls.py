"""URL of the passage search."""

from django.urls import URLPattern, path

from building.search import views

urlpatterns: list[URLPattern] = [path("search/", views.search_passages, name="search_passages")]
