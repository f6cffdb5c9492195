"""URLs for filtering sub-questions, by unanswered topics or by grades."""

from django.urls import URLPattern, path

from building.filtering import views

urlpatterns: list[URLPattern] = [
    path("building/filter/", views.filter_questions, name="filter_questions"),
    path("building/filter-pairs/", views.filter_pairs, name="filter_pairs"),
]
