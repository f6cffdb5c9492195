"""URL that an open page of results asks for new ratings."""

from django.urls import URLPattern, path

from crux_site.navigation import views

urlpatterns: list[URLPattern] = [path("new-ratings/", views.new_ratings, name="new_ratings")]
