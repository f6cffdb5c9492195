"""Accounts."""

from django.urls import URLPattern, path

from annotation.people import views

urlpatterns: list[URLPattern] = [
    path("", views.people, name="people"),
    path("<int:pk>/", views.person, name="person"),
]
