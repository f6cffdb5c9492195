"""What systems put out, against all that is relevant and against the relevant that they had seen."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.http import AuthenticatedRequest
from annotation.models import Text
from evaluation.csv_tables import csv_response
from evaluation.http import chosen, json_file, no_choice
from evaluation.seen.export import TABLES, as_json, items_json
from evaluation.seen.items import Items, items_of
from evaluation.seen.page import TITLES, depth_words, report_lines, shown
from evaluation.seen.params import SeenChoice, seen_choice
from evaluation.seen.scores import scores_of

PER_PAGE = 100

of_seen = chosen(seen_choice, no_choice("evaluation/seen/nobody.html"))


@of_seen
def seen(request: AuthenticatedRequest, choice: SeenChoice) -> HttpResponse:
    """All systems, by answers and by citations."""
    scores = scores_of(choice.dataset, choice.options)
    context = _context(choice) | {"scores": scores, "tables": shown(scores)}
    return render(request, "evaluation/seen/seen.html", context)


@of_seen
def seen_system(request: AuthenticatedRequest, choice: SeenChoice, system: str) -> HttpResponse:
    """One system, topic by topic."""
    scores = scores_of(choice.dataset, choice.options)
    if not choice.dataset.texts.filter(kind=Text.Kind.REPORT, system=system).exists():
        raise Http404("No system with reports has this name.")
    query = choice.query()
    context = _context(choice) | {
        "system": system,
        "tables": shown(scores, system),
        "page": Paginator(report_lines(scores, system), PER_PAGE).get_page(request.GET.get("page")),
        "query": f"{query}&" if query else "",
    }
    return render(request, "evaluation/seen/seen_system.html", context)


@of_seen
def seen_items(request: AuthenticatedRequest, choice: SeenChoice, text_id: int) -> HttpResponse:
    """What one report put out, what of it is relevant, and what it had seen."""
    context = _context(choice) | {"items": _items(choice, text_id)}
    return render(request, "evaluation/seen/seen_items.html", context)


@of_seen
def seen_items_json(
    request: AuthenticatedRequest, choice: SeenChoice, text_id: int
) -> HttpResponse:
    name = f"{choice.dataset.slug}-seen-{text_id}"
    return json_file(name, items_json(choice, _items(choice, text_id)))


@of_seen
def seen_json(request: AuthenticatedRequest, choice: SeenChoice) -> HttpResponse:
    """The page as one JSON object, the one that `manage.py seen --json` prints."""
    scores = scores_of(choice.dataset, choice.options)
    return json_file(f"{choice.dataset.slug}-seen", as_json(choice, scores))


@of_seen
def seen_csv(request: AuthenticatedRequest, choice: SeenChoice, table: str) -> HttpResponse:
    if table not in TABLES:
        raise Http404(f"There is no table {table!r}. There are: {', '.join(TABLES)}.")
    header, rows = TABLES[table](scores_of(choice.dataset, choice.options))
    return csv_response(f"{choice.dataset.slug}-seen-{table}", header, rows)


def _context(choice: SeenChoice) -> dict[str, Any]:
    return {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "options": choice.options,
        "depth": depth_words(choice),
        "titles": TITLES,
        "asked": choice.query(),
    }


def _items(choice: SeenChoice, text_id: int) -> Items:
    text = get_object_or_404(
        Text.objects.select_related("topic"),
        pk=text_id,
        dataset=choice.dataset,
        kind=Text.Kind.REPORT,
    )
    items = items_of(choice.dataset, text, choice.options)
    if items is None:
        raise Http404("This report is of no topic.")
    return items
