"""The agreement page, and what it shows as files."""

from django.urls import URLPattern, path

from evaluation.agreement import views

urlpatterns: list[URLPattern] = [
    path("agreement/", views.agreement, name="agreement"),
    path("agreement/with/<int:rater_id>/", views.agreement_with, name="agreement_with"),
    path("agreement/<slug:table>.csv", views.agreement_csv, name="agreement_csv"),
    path("agreement.json", views.agreement_file, name="agreement_json"),
]
