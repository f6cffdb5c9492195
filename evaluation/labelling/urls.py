"""What to label next, and draws of it."""

from django.urls import URLPattern, path

from evaluation.labelling import views

urlpatterns: list[URLPattern] = [
    path("", views.label_next, name="label_next"),
    path("<slug:table>.csv", views.label_csv, name="label_csv"),
    path("draws/<int:pk>/", views.label_draw, name="label_draw"),
    path("draws/<int:pk>.csv", views.label_draw_csv, name="label_draw_csv"),
]
