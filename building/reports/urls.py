"""Reports with what they cite."""

from django.urls import URLPattern, path

from building.reports import views

urlpatterns: list[URLPattern] = [
    path("building/reports/", views.reports, name="reports"),
    path("building/reports/<int:pk>/", views.report, name="report"),
]
