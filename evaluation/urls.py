"""Where results are read. All of it is about one dataset."""

from django.urls import URLPattern, path

from evaluation.views.agreement import agreement
from evaluation.views.agreement_files import agreement_csv, agreement_file, pairs_csv
from evaluation.views.agreement_with import agreement_with
from evaluation.views.labelling import label_csv, label_draw, label_draw_csv, label_next
from evaluation.views.matrix import matrices, matrices_csv, matrix, matrix_csv
from evaluation.views.pairs import pair, pairs
from evaluation.views.retrieval import (
    retrieval,
    retrieval_compare,
    retrieval_csv,
    retrieval_figure,
    retrieval_judges,
    retrieval_run,
)

urlpatterns: list[URLPattern] = [
    path("agreement/", agreement, name="agreement"),
    path("agreement/with/<int:rater_id>/", agreement_with, name="agreement_with"),
    path("agreement/<slug:table>.csv", agreement_csv, name="agreement_csv"),
    path("agreement.json", agreement_file, name="agreement_json"),
    path("pairs/", pairs, name="pairs"),
    path("pairs.csv", pairs_csv, name="pairs_csv"),
    path("pairs/<int:text_id>/<int:question_id>/", pair, name="pair"),
    path("retrieval/", retrieval, name="retrieval"),
    path("retrieval/runs/<path:name>/", retrieval_run, name="retrieval_run"),
    path("retrieval/compare/", retrieval_compare, name="retrieval_compare"),
    path("retrieval/judges/", retrieval_judges, name="retrieval_judges"),
    path("retrieval/figure/<slug:name>/", retrieval_figure, name="retrieval_figure"),
    path("retrieval/<slug:name>.csv", retrieval_csv, name="retrieval_csv"),
    path("matrix/", matrices, name="matrices"),
    path("matrix.csv", matrices_csv, name="matrices_csv"),
    path("matrix/<int:topic_id>/", matrix, name="matrix"),
    path("matrix/<int:topic_id>/<slug:table>.csv", matrix_csv, name="matrix_csv"),
    path("label-next/", label_next, name="label_next"),
    path("label-next/<slug:table>.csv", label_csv, name="label_csv"),
    path("label-next/draws/<int:pk>/", label_draw, name="label_draw"),
    path("label-next/draws/<int:pk>.csv", label_draw_csv, name="label_draw_csv"),
]
