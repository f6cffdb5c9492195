"""Leaving out sub-questions that no passage answers, or whose grades do not hold."""

from django.urls import URLPattern, path

from building.filtering import views

urlpatterns: list[URLPattern] = [
    path("building/filter/", views.filter_questions, name="filter_questions"),
    path("building/filter-pairs/", views.filter_pairs, name="filter_pairs"),
]
