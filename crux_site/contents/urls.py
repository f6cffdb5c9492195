"""What of a dataset can be called otherwise, or be removed."""

from django.urls import URLPattern, path

from crux_site.contents import views

urlpatterns: list[URLPattern] = [
    path("contents/", views.contents, name="contents"),
    path("contents/<slug:kind>/", views.thing, name="thing"),
]
