"""Reports with what they cite, and how far that supports them."""

from django.urls import URLPattern, path

from building.reports import views

urlpatterns: list[URLPattern] = [
    path("building/reports/", views.reports, name="reports"),
    path("building/reports.csv", views.reports_csv, name="reports_csv"),
    path("building/reports/take-citations/", views.take_citations, name="take_citations"),
    path("building/reports/<int:pk>/", views.report, name="report"),
]
