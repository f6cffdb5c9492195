"""The datasets."""

from django.urls import URLPattern, path

from crux_site.datasets import views

urlpatterns: list[URLPattern] = [
    path("", views.datasets, name="datasets"),
    path("<slug:slug>/", views.dataset, name="dataset"),
    path("<slug:slug>/filled.csv", views.filled_csv, name="filled_csv"),
]
