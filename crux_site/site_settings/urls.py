"""URL of the page Site settings."""

from django.urls import URLPattern, path

from crux_site.site_settings import views

urlpatterns: list[URLPattern] = [
    path("site-settings/", views.site_settings, name="site_settings"),
]
