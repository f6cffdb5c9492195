"""Views of the rating matrices: the topics of a dataset, and the matrix of a topic."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rubric, Topic
from evaluation.data.selection import SelectionError
from evaluation.http import chosen, empty_view, selection_error_page, table_called
from evaluation.matrix.export import pairs_table, texts_table, topics_table
from evaluation.matrix.page import NOT_RANKED, matrix_page, topic_rows, topic_values
from evaluation.matrix.query import MatrixQuery
from evaluation.matrix.rubric_matrix import rubric_matrix, used_rubrics
from evaluation.page_tables import order_rows, page_query
from evaluation.result_tables import table_file

TOPICS_PER_PAGE = 50
TABLES = {"texts": texts_table, "pairs": pairs_table}


# A dataset without scores may have grades under other rubrics.
of_matrix = chosen(
    MatrixQuery.of_rated, empty_view("evaluation/matrix/matrix_empty.html", rubrics=used_rubrics)
)


@of_matrix
def matrices(request: AuthenticatedRequest, choice: MatrixQuery) -> HttpResponse:
    """Render the list of topics, with the completeness of each matrix."""
    values = topic_values(choice)
    rows, order = order_rows(request.GET, "topics", topic_rows(choice), values)
    query = choice.query() if choice.given_params else ""
    context = _context(choice) | {
        "page": Paginator(rows, TOPICS_PER_PAGE).get_page(request.GET.get("page")),
        "topics_order": order,
        "query": page_query(query, request.GET),
        "not_ranked": NOT_RANKED,
        "rubrics": used_rubrics(choice.dataset),
    }
    return render(request, "evaluation/matrix/matrices.html", context)


@of_matrix
def matrices_table_file(
    request: AuthenticatedRequest, choice: MatrixQuery, file_format: str
) -> HttpResponse:
    return table_file(
        request,
        file_format,
        topics_table(choice, topic_rows(choice)),
        name=f"{choice.dataset.slug}.matrices",
        caption=f"Topics of {choice.dataset.title}",
    )


@of_matrix
def matrix(request: AuthenticatedRequest, choice: MatrixQuery, topic_id: int) -> HttpResponse:
    """Render a topic's matrix: passages x questions, and the gains of a run by rank."""
    link = getattr(request.user, "link", None)  # of a visitor
    with_text = link is None or link.with_words
    page = matrix_page(choice, _topic(choice, topic_id), with_text=with_text)
    context = _context(choice) | {"page": page}
    return render(request, "evaluation/matrix/matrix.html", context)


@require_safe
@researchers_only
def rubric_matrix_page(request: AuthenticatedRequest, slug: str, rubric: str) -> HttpResponse:
    """Render a topic under any rubric, with the grades of one rater, nominal ones too."""
    dataset = get_object_or_404(Dataset, slug=slug)
    of_grades = get_object_or_404(Rubric.objects.prefetch_related("levels"), slug=rubric)
    try:
        page = rubric_matrix(dataset, of_grades, request.GET.dict())
    except SelectionError as error:
        return selection_error_page(request, dataset, str(error))
    context = {
        "room": "datasets",
        "dataset": dataset,
        "rubric": of_grades,
        "page": page,
        "previous": page and page.neighbouring_topic(-1),
        "next": page and page.neighbouring_topic(1),
    }
    return render(request, "evaluation/matrix/rubric_matrix.html", context)


@of_matrix
def matrix_table_file(
    request: AuthenticatedRequest, choice: MatrixQuery, topic_id: int, table: str, file_format: str
) -> HttpResponse:
    """Return the whole matrix as a file, including groups that the page hides."""
    table_of = table_called(table, TABLES)
    topic = _topic(choice, topic_id)
    page = matrix_page(choice.replace(all=True), topic)
    return table_file(
        request,
        file_format,
        table_of(page),
        name=f"{choice.dataset.slug}.{topic.name}.{table}",
        caption=f"Ratings of topic {topic.name} of {choice.dataset.title}: {table}",
    )


def _topic(choice: MatrixQuery, topic_id: int) -> Topic:
    return get_object_or_404(Topic, dataset=choice.dataset, pk=topic_id)


def _context(choice: MatrixQuery) -> dict[str, Any]:
    return {"room": "datasets", "dataset": choice.dataset, "choice": choice}
