"""The mixed model, and what its page shows as files."""

from django.urls import URLPattern, path

from evaluation.mixed_model import views

urlpatterns: list[URLPattern] = [
    path("mixed-model/", views.mixed_model, name="mixed_model"),
    path("mixed-model/<slug:table>.csv", views.mixed_model_csv, name="mixed_model_csv"),
    path("mixed-model.json", views.mixed_model_json, name="mixed_model_json"),
]
