"""The rubrics and their guidelines."""

from django.urls import URLPattern, path

from annotation.rubrics import views

urlpatterns: list[URLPattern] = [
    path("", views.rubrics, name="rubrics"),
    path("<slug:slug>/", views.rubric, name="rubric"),
]
