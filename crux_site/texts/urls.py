"""URL of the topics, texts and retrieval runs of a dataset."""

from django.urls import URLPattern, path

from crux_site.texts import views

urlpatterns: list[URLPattern] = [path("texts/", views.texts, name="texts")]
