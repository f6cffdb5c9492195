"""URL of the first page of the site."""

from django.urls import URLPattern, path

from crux_site.home import views

urlpatterns: list[URLPattern] = [path("", views.home, name="home")]
