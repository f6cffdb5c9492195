"""URLs of adjudication: the list of differences, and the page of one pair."""

from django.urls import URLPattern, path

from annotation.adjudication import views

urlpatterns: list[URLPattern] = [
    path("<slug:slug>/adjudication/", views.adjudication, name="adjudication"),
    path(
        "<slug:slug>/adjudication/<int:item_pk>/<int:question_pk>/",
        views.adjudicate,
        name="adjudicate",
    ),
]
