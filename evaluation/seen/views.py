"""What systems put out, against all that is relevant and against the relevant that they had seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Text
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import json_file, refusal, without_strangers
from evaluation.seen.export import TABLES, as_json, items_json
from evaluation.seen.items import Items, items_of
from evaluation.seen.page import TITLES, depth_words, report_lines, shown
from evaluation.seen.params import SeenChoice, seen_choice
from evaluation.seen.scores import scores_of

PER_PAGE = 100

View = Callable[Concatenate[AuthenticatedRequest, SeenChoice, ...], HttpResponseBase]


def chosen(view: View) -> Callable[..., HttpResponseBase]:
    """A view for researchers that is given the state in the URL.

    A choice that is not there is answered with the choices there are, and a dataset that nobody has
    rated with a page that says so.
    """

    @require_safe
    @researchers_only
    @wraps(view)
    def opened(request: AuthenticatedRequest, slug: str, **place: Any) -> HttpResponseBase:
        dataset = get_object_or_404(Dataset, slug=slug)
        try:
            choice = without_strangers(request.GET, partial(seen_choice, dataset))
            if choice is None:
                context = {"room": "datasets", "dataset": dataset}
                return render(request, "evaluation/seen/nobody.html", context)
            return view(request, choice, **place)
        except SelectionError as error:
            return refusal(request, dataset, str(error))

    return opened


@chosen
def seen(request: AuthenticatedRequest, choice: SeenChoice) -> HttpResponse:
    """All systems, by answers and by citations."""
    scores = scores_of(choice.dataset, choice.options)
    context = _context(choice) | {"scores": scores, "tables": shown(scores)}
    return render(request, "evaluation/seen/seen.html", context)


@chosen
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


@chosen
def seen_items(request: AuthenticatedRequest, choice: SeenChoice, text_id: int) -> HttpResponse:
    """What one report put out, what of it is relevant, and what it had seen."""
    context = _context(choice) | {"items": _items(choice, text_id)}
    return render(request, "evaluation/seen/seen_items.html", context)


@chosen
def seen_items_json(
    request: AuthenticatedRequest, choice: SeenChoice, text_id: int
) -> HttpResponse:
    name = f"{choice.dataset.slug}-seen-{text_id}"
    return json_file(name, items_json(choice, _items(choice, text_id)))


@chosen
def seen_json(request: AuthenticatedRequest, choice: SeenChoice) -> HttpResponse:
    """The page as one JSON object, the one that `manage.py seen --json` prints."""
    scores = scores_of(choice.dataset, choice.options)
    return json_file(f"{choice.dataset.slug}-seen", as_json(choice, scores))


@chosen
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
