"""URLs of certificates of judges and their files."""

from django.urls import URLPattern, path

from evaluation.certificates import views
from evaluation.result_tables import table_paths

CERTIFICATE = "certificates/<slug:rubric>/<int:judge>"

urlpatterns: list[URLPattern] = [
    path("certificates/", views.certificates, name="certificates"),
    path(f"{CERTIFICATE}/", views.certificate, name="certificate"),
    path(f"{CERTIFICATE}.json", views.certificate_json, name="certificate_json"),
    *table_paths(f"{CERTIFICATE}/<slug:table>", views.certificate_table, "certificate_table"),
]
