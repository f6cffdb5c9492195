"""What to label next, and samples of it."""

from django.urls import URLPattern, path
from django.views.generic import RedirectView

from evaluation.labelling import views

urlpatterns: list[URLPattern] = [
    path("", views.label_next, name="label_next"),
    path("<slug:table>.csv", views.label_csv, name="label_csv"),
    path("samples/<int:pk>/", views.label_sample, name="label_sample"),
    path("samples/<int:pk>.csv", views.label_sample_csv, name="label_sample_csv"),
    path("draws/<int:pk>/", RedirectView.as_view(pattern_name="label_sample")),  # its old name
    path("draws/<int:pk>.csv", RedirectView.as_view(pattern_name="label_sample_csv")),
]
