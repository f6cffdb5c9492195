"""Where results are read. All of it is about one dataset."""

from django.urls import URLPattern, path

from evaluation.views.agreement import agreement
from evaluation.views.pairs import pair, pairs

urlpatterns: list[URLPattern] = [
    path("agreement/", agreement, name="agreement"),
    path("pairs/", pairs, name="pairs"),
    path("pairs/<int:text_id>/<int:question_id>/", pair, name="pair"),
]
