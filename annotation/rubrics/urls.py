"""The rubrics and their guidelines."""

from django.urls import URLPattern, path

from annotation.rubrics import views

urlpatterns: list[URLPattern] = [
    path("", views.rubrics, name="rubrics"),
    path("new/", views.rubric_new, name="rubric_new"),
    path("add/", views.rubric_add, name="rubric_add"),
    path("<slug:slug>/", views.rubric, name="rubric"),
    path("<slug:slug>/edit/", views.rubric_edit, name="rubric_edit"),
    path("<slug:slug>/retire/", views.rubric_retire, name="rubric_retire"),
    path("<slug:slug>/publish/", views.rubric_publish, name="rubric_publish"),
]
