"""The power of a planned campaign, and the same as files."""

from django.urls import URLPattern, path

from evaluation.power import views

urlpatterns: list[URLPattern] = [
    path("power/", views.power, name="power"),
    path("power.csv", views.power_csv, name="power_csv"),
    path("power.json", views.power_json, name="power_json"),
]
