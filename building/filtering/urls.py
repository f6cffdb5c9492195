"""Leaving out sub-questions that no passage answers."""

from django.urls import URLPattern, path

from building.filtering import views

urlpatterns: list[URLPattern] = [
    path("building/filter/", views.filter_questions, name="filter_questions")
]
