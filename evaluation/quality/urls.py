"""URLs of the quality and power pages of one campaign."""

from django.urls import URLPattern, path

from evaluation.quality.views import quality, quality_csv, quality_item, quality_rater

urlpatterns: list[URLPattern] = [
    path("quality/", quality, name="quality"),
    path("quality.csv", quality_csv, name="quality_csv"),
    path("quality/raters/<slug:name>/", quality_rater, name="quality_rater"),
    path("quality/items/<int:pk>/", quality_item, name="quality_item"),
]
