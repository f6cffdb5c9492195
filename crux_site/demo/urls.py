"""URL of the page that loads the demo."""

from django.urls import URLPattern, path

from crux_site.demo import views

urlpatterns: list[URLPattern] = [path("demo/", views.demo, name="demo")]
