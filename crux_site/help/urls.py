"""URLs of the help."""

from django.urls import URLPattern, path

from crux_site.help import views

urlpatterns: list[URLPattern] = [
    path("", views.help_index, name="help"),
    path("images/<str:name>", views.help_image, name="help_image"),
    path("<path:name>/", views.help_page, name="help_page"),
]
