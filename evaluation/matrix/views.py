"""The rating matrices: the topics of a dataset, and the matrix of one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rubric, Topic
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import chosen, no_choice, refusal
from evaluation.matrix.export import pairs_table, texts_table, topics_table
from evaluation.matrix.page import matrix_page, topic_rows
from evaluation.matrix.params import MatrixChoice, matrix_choice
from evaluation.matrix.under import under_page, used_rubrics

TOPICS_PER_PAGE = 50
TABLES = {"texts": texts_table, "pairs": pairs_table}


# Where there is nothing that scores are made of there may be grades under other rubrics.
of_matrix = chosen(
    matrix_choice, no_choice("evaluation/matrix/matrix_empty.html", rubrics=used_rubrics)
)


@of_matrix
def matrices(request: AuthenticatedRequest, choice: MatrixChoice) -> HttpResponse:
    """All topics, and how much of each matrix is there."""
    rows = topic_rows(choice)
    context = _context(choice) | {
        "page": Paginator(rows, TOPICS_PER_PAGE).get_page(request.GET.get("page")),
        "query": f"{choice.query()}&" if choice.words else "",
        "rubrics": used_rubrics(choice.dataset),
    }
    return render(request, "evaluation/matrix/matrices.html", context)


@of_matrix
def matrices_csv(request: AuthenticatedRequest, choice: MatrixChoice) -> HttpResponse:
    table = topics_table(choice, topic_rows(choice))
    return csv_response(f"{choice.dataset.slug}.matrices", *table)


@of_matrix
def matrix(request: AuthenticatedRequest, choice: MatrixChoice, topic_id: int) -> HttpResponse:
    """One topic: its passages down, its questions across, and what a run adds rank by rank."""
    context = _context(choice) | {"page": matrix_page(choice, _topic(choice, topic_id))}
    return render(request, "evaluation/matrix/matrix.html", context)


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


@of_matrix
def matrix_csv(
    request: AuthenticatedRequest, choice: MatrixChoice, topic_id: int, table: str
) -> HttpResponse:
    """The whole matrix as a file, whatever of it the page shows."""
    if table not in TABLES:
        raise Http404(f"There is no table {table!r}. There are: {', '.join(TABLES)}.")
    topic = _topic(choice, topic_id)
    page = matrix_page(replace(choice, shows_all=True), topic)
    return csv_response(f"{choice.dataset.slug}.{topic.name}.{table}", *TABLES[table](page))


def _topic(choice: MatrixChoice, topic_id: int) -> Topic:
    return get_object_or_404(Topic, dataset=choice.dataset, pk=topic_id)


def _context(choice: MatrixChoice) -> dict[str, Any]:
    return {"room": "datasets", "dataset": choice.dataset, "choice": choice}
