"""URLs of the agreement page and its files."""

from django.urls import URLPattern, path

from evaluation.agreement import views
from evaluation.result_tables import table_paths

urlpatterns: list[URLPattern] = [
    path("agreement/", views.agreement, name="agreement"),
    path("agreement/with/<int:rater_id>/", views.agreement_with, name="agreement_with"),
    path("agreement/figure/<slug:name>/", views.agreement_figure, name="agreement_figure"),
    *table_paths("agreement/<slug:table>", views.agreement_table_file, "agreement_table"),
    path("agreement.json", views.agreement_file, name="agreement_json"),
]
