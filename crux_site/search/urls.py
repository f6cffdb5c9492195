"""Searching the words of all datasets that the reader sees."""

from django.urls import URLPattern, path

from crux_site.search import views

urlpatterns: list[URLPattern] = [path("", views.search, name="search")]
