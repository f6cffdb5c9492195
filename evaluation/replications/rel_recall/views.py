"""Views of recall of retrieved evidence (Rel and Rel'), and the same as files."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.http import AuthenticatedRequest
from annotation.models import Text
from evaluation.http import chosen, empty_view, json_file, table_called
from evaluation.page_tables import order_rows, page_query
from evaluation.replications.rel_recall.export import TABLES, as_json, items_json
from evaluation.replications.rel_recall.items import Items, items_of
from evaluation.replications.rel_recall.page import (
    REPORT_VALUES,
    TITLES,
    depth_words,
    kind_tables,
    report_lines,
)
from evaluation.replications.rel_recall.query import SeenQuery, seen_query
from evaluation.replications.rel_recall.scores import scores_of
from evaluation.result_tables import table_file

PER_PAGE = 100

with_choice = chosen(seen_query, empty_view("evaluation/replications/rel_recall/nobody.html"))


@with_choice
def rel_recall(request: AuthenticatedRequest, choice: SeenQuery) -> HttpResponse:
    """Show all systems, by answers and by citations."""
    scores = scores_of(choice.dataset, choice.options)
    context = _context(choice) | {"scores": scores, "tables": kind_tables(scores)}
    return render(request, "evaluation/replications/rel_recall/rel_recall.html", context)


@with_choice
def rel_recall_system(
    request: AuthenticatedRequest, choice: SeenQuery, system: str
) -> HttpResponse:
    """Show one system, topic by topic."""
    scores = scores_of(choice.dataset, choice.options)
    if not choice.dataset.texts.filter(kind=Text.Kind.REPORT, system=system).exists():
        raise Http404("There is no system with reports of this name.")
    lines, order = order_rows(request.GET, "topics", report_lines(scores, system), REPORT_VALUES)
    context = _context(choice) | {
        "system": system,
        "tables": kind_tables(scores, system),
        "page": Paginator(lines, PER_PAGE).get_page(request.GET.get("page")),
        "topics_order": order,
        "query": page_query(choice.query(), request.GET),
    }
    return render(request, "evaluation/replications/rel_recall/rel_recall_system.html", context)


@with_choice
def rel_recall_items(
    request: AuthenticatedRequest, choice: SeenQuery, text_id: int
) -> HttpResponse:
    """Show the output of one report: its relevant items and the retrieved ones."""
    context = _context(choice) | {"items": _items(choice, text_id)}
    return render(request, "evaluation/replications/rel_recall/rel_recall_items.html", context)


@with_choice
def rel_recall_items_json(
    request: AuthenticatedRequest, choice: SeenQuery, text_id: int
) -> HttpResponse:
    name = f"{choice.dataset.slug}-seen-{text_id}"
    return json_file(name, items_json(choice, _items(choice, text_id)))


@with_choice
def rel_recall_json(request: AuthenticatedRequest, choice: SeenQuery) -> HttpResponse:
    """The page as one JSON object, the one that `manage.py seen --json` prints."""
    scores = scores_of(choice.dataset, choice.options)
    return json_file(f"{choice.dataset.slug}-seen", as_json(choice, scores))


@with_choice
def rel_recall_table_file(
    request: AuthenticatedRequest, choice: SeenQuery, table: str, file_format: str
) -> HttpResponse:
    return table_file(
        request,
        file_format,
        table_called(table, TABLES)(scores_of(choice.dataset, choice.options)),
        name=f"{choice.dataset.slug}-seen-{table}",
        caption=f"Recall of the retrieved passages in {choice.dataset.title}: {table}",
    )


def _context(choice: SeenQuery) -> dict[str, Any]:
    return {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "options": choice.options,
        "depth": depth_words(choice),
        "titles": TITLES,
        "asked": choice.query(),
    }


def _items(choice: SeenQuery, text_id: int) -> Items:
    text = get_object_or_404(
        Text.objects.select_related("topic"),
        pk=text_id,
        dataset=choice.dataset,
        kind=Text.Kind.REPORT,
    )
    items = items_of(choice.dataset, text, choice.options)
    if items is None:
        raise Http404("This report has no topic.")
    return items
