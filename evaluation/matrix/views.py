"""The rating matrices: the topics of a dataset, and the matrix of one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rubric, Topic
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import refusal, without_strangers
from evaluation.matrix.export import pairs_table, texts_table, topics_table
from evaluation.matrix.page import matrix_page, topic_rows
from evaluation.matrix.params import MatrixChoice, matrix_choice
from evaluation.matrix.under import under_page, used_rubrics

TOPICS_PER_PAGE = 50
TABLES = {"texts": texts_table, "pairs": pairs_table}


@require_safe
@researchers_only
def matrices(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All topics, and how much of each matrix is there."""

    def shown(dataset: Dataset, choice: MatrixChoice) -> HttpResponse:
        rows = topic_rows(choice)
        context = {
            "room": "datasets",
            "dataset": dataset,
            "choice": choice,
            "page": Paginator(rows, TOPICS_PER_PAGE).get_page(request.GET.get("page")),
            "query": f"{choice.query()}&" if choice.words else "",
            "rubrics": used_rubrics(dataset),
        }
        return render(request, "evaluation/matrix/matrices.html", context)

    return _chosen(request, slug, shown)


@require_safe
@researchers_only
def matrices_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    def shown(dataset: Dataset, choice: MatrixChoice) -> HttpResponse:
        return csv_response(f"{slug}.matrices", *topics_table(choice, topic_rows(choice)))

    return _chosen(request, slug, shown)


@require_safe
@researchers_only
def matrix(request: AuthenticatedRequest, slug: str, topic_id: int) -> HttpResponse:
    """One topic: its passages down, its questions across, and what a run adds rank by rank."""
    topic = get_object_or_404(Topic, dataset__slug=slug, pk=topic_id)

    def shown(dataset: Dataset, choice: MatrixChoice) -> HttpResponse:
        context = {
            "room": "datasets",
            "dataset": dataset,
            "choice": choice,
            "page": matrix_page(choice, topic),
        }
        return render(request, "evaluation/matrix/matrix.html", context)

    return _chosen(request, slug, shown)


@require_safe
@researchers_only
def matrix_under(request: AuthenticatedRequest, slug: str, rubric: str) -> HttpResponse:
    """A topic under any rubric, as one rater graded it: names too, which no score is made of."""
    dataset = get_object_or_404(Dataset, slug=slug)
    of_grades = get_object_or_404(Rubric.objects.prefetch_related("levels"), slug=rubric)
    try:
        page = under_page(dataset, of_grades, request.GET.dict())
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    context = {
        "room": "datasets",
        "dataset": dataset,
        "rubric": of_grades,
        "page": page,
        "previous": page and page.beside(-1),
        "next": page and page.beside(1),
    }
    return render(request, "evaluation/matrix/matrix_under.html", context)


@require_safe
@researchers_only
def matrix_csv(request: AuthenticatedRequest, slug: str, topic_id: int, table: str) -> HttpResponse:
    """The whole matrix as a file, whatever of it the page shows."""
    if table not in TABLES:
        raise Http404(f"There is no table {table!r}. There are: {', '.join(TABLES)}.")
    topic = get_object_or_404(Topic, dataset__slug=slug, pk=topic_id)

    def shown(dataset: Dataset, choice: MatrixChoice) -> HttpResponse:
        page = matrix_page(replace(choice, shows_all=True), topic)
        return csv_response(f"{slug}.{topic.name}.{table}", *TABLES[table](page))

    return _chosen(request, slug, shown)


def _chosen(
    request: AuthenticatedRequest,
    slug: str,
    shown: Callable[[Dataset, MatrixChoice], HttpResponse],
) -> HttpResponse:
    """The page for the choice in the URL; for a wrong one, and for no grades at all, its own."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = without_strangers(request.GET, partial(matrix_choice, dataset))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    if choice is None:
        context = {"dataset": dataset, "room": "datasets", "rubrics": used_rubrics(dataset)}
        return render(request, "evaluation/matrix/matrix_empty.html", context)
    return shown(dataset, choice)
