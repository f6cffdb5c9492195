"""Two judges, or two runs, side by side."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, sqrt

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.formats.writing import Echo, escape_formula
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, User
from annotation.models.rating import rater_name_in
from judging.compare.cells import CellFilter
from judging.compare.page import Comparison
from judging.compare.query import ComparisonQuery, PageQueryError, comparison_query
from judging.models import Judge, JudgeRun

PER_PAGE = 50
TOPICS = 20  # listed at first
RUNS = 100  # to choose from, the newest


@dataclass(frozen=True, slots=True)
class TableCell:
    level: int
    n: int
    shade: int
    looks: str


@require_safe
@researchers_only
def compare(request: AuthenticatedRequest) -> HttpResponse:
    """Show the changes between two judges or runs; without both, a form to choose them."""
    try:
        choice = comparison_query(request.GET.dict(), request.user)
    except PageQueryError as error:
        return _form(request, str(error), error.status)
    if choice is None:
        return _form(request)
    comparison, cell_filter = choice.comparison, choice.cell_filter
    page = Paginator(range(comparison.count(cell_filter)), PER_PAGE).get_page(
        request.GET.get("page")
    )
    start = max(page.start_index() - 1, 0)
    everything = request.GET.get("topics") == "all"
    context = _choices(choice.params(), request.user) | {
        "choice": choice,
        "comparison": comparison,
        "names": ",".join(
            rater_name_in(comparison.dataset, side.judge.rater)
            for side in (comparison.a, comparison.b)
        ),
        "wanted": cell_filter,
        "listed": comparison.cell_kinds[cell_filter.show],
        "has_order": comparison.rubric.has_order,
        "gaps": [
            (show, title, comparison.count(CellFilter(show)))
            for show, title in comparison.cell_kinds.items()
            if show.startswith(("failed-", "only-"))
        ],
        "crossed": [
            (show, title, comparison.count(CellFilter(show)))
            for show, title in comparison.cell_kinds.items()
            if show in ("crossed-up", "crossed-down")
        ],
        "table": _table(comparison),
        "topics": comparison.topics if everything else comparison.topics[:TOPICS],
        "n_more_topics": 0 if everything else max(0, len(comparison.topics) - TOPICS),
        "topic_name": {part.key: part.name for part in comparison.topics}.get(
            str(cell_filter.topic)
        ),
        "page": page,
        "cells": comparison.cells(cell_filter).page(start, page.end_index())
        if page.paginator.count
        else [],
    }
    return render(request, "judging/compare/compare.html", context)


@require_safe
@researchers_only
def compare_csv(request: AuthenticatedRequest) -> HttpResponse | StreamingHttpResponse:
    """Stream all cells of the list as CSV."""
    try:
        choice = comparison_query(request.GET.dict(), request.user)
        if choice is None:
            raise PageQueryError("Choose two judges, or two runs.")
    except PageQueryError as error:
        return _form(request, str(error), error.status)
    slug = choice.comparison.dataset.slug
    return StreamingHttpResponse(
        _lines(choice, request.build_absolute_uri("/").rstrip("/")),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{slug}-compared.csv"'},
    )


def _form(request: AuthenticatedRequest, problem: str = "", status: int = 200) -> HttpResponse:
    context = _choices(request.GET.dict(), request.user) | {"why": problem}
    return render(request, "judging/compare/choose.html", context, status=status)


def _choices(chosen: Mapping[str, object], user: User) -> dict[str, object]:
    runs = JudgeRun.objects.visible_to(user).filter(test="")
    return {
        "room": "judges",
        "chosen": {name: str(value) for name, value in chosen.items()},
        "judges": Judge.objects.visible_to(user).select_related("rater__dataset"),
        "runs": runs.select_related("judge__rater", "dataset")[:RUNS],
        "datasets": Dataset.objects.visible_to(user).filter(judge_runs__isnull=False).distinct(),
    }


def _table(comparison: Comparison) -> list[tuple[int, list[TableCell], int]]:
    """Return the confusion matrix with shades and the borders of the threshold."""
    maximum = int(comparison.matrix.max(initial=0))

    def cell(a: int, b: int, n: int) -> TableCell:
        css_classes = ["agree" if a == b else ""]
        css_classes += [
            "edge-top" if a == comparison.eta else "",
            "edge-left" if b == comparison.eta else "",
        ]
        # The square root keeps the rare cells apart from the empty ones.
        shade = ceil(5 * sqrt(n / maximum)) if maximum else 0
        return TableCell(b, n, shade, " ".join(filter(None, css_classes)))

    return [
        (a, [cell(a, b, n) for b, n in zip(comparison.levels, row, strict=True)], sum(row))
        for a, row in zip(comparison.levels, comparison.matrix.tolist(), strict=True)
    ]


def _lines(choice: ComparisonQuery, site: str) -> Iterator[str]:
    """Yield the cells as CSV lines, with the URLs of their replies below `site`."""
    comparison = choice.comparison
    writer = csv.writer(Echo(), lineterminator="\n")
    yield writer.writerow(
        [
            *("topic", "kind", "system", "text", "number", "question"),
            *("a", "b", "grade_a", "grade_b", "change", "failure_a", "failure_b"),
            *("reply_a", "reply_b"),
        ]
    )
    sides = [comparison.a.judge.slug, comparison.b.judge.slug]
    raters = [comparison.a.judge.rater_id, comparison.b.judge.rater_id]
    for cell in comparison.cells(choice.cell_filter):
        replies = [
            f"{site}{reverse('judge_reply', args=[rater, cell.text, cell.question])}"
            f"#attempt-{reply.attempt}"
            if reply.attempt
            else ""
            for rater, reply in zip(raters, (cell.a, cell.b), strict=True)
        ]
        yield writer.writerow(
            [
                *(escape_formula(text) for text in (cell.topic, cell.kind, cell.system, cell.name)),
                *(cell.number, escape_formula(cell.words), *sides, cell.a.grade, cell.b.grade),
                *(
                    cell.change if comparison.rubric.has_order else None,
                    cell.a.failure,
                    cell.b.failure,
                    *replies,
                ),
            ]
        )
