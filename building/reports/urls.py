"""URLs of reports and their citation support."""

from django.urls import URLPattern, path

from building.reports import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("building/reports/", views.reports, name="reports"),
    *table_paths("building/reports", views.reports_table_file, "reports_table"),
    path("building/reports/take-citations/", views.take_citations, name="take_citations"),
    path("building/reports/<int:pk>/", views.report, name="report"),
]
