"""The map of the site."""

from django.urls import include, path

urlpatterns = []
