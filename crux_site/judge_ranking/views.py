"""The judges of a dataset ranked by their agreement with people on the same pairs: a page, CSV and JSON."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from crux_site.judge_ranking.page import JudgeRanking, JudgeUsage, ranking_of, usage_by_rater
from evaluation.csv_tables import ESTIMATE, Cell, csv_response, estimate_cells, estimate_header
from evaluation.data.selection import Selection, SelectionError
from evaluation.http import asked_for, json_file, refusal

HEADER = (
    *("rank", "judge", "kind", "fingerprint"),
    *(*estimate_header("agreement"), *estimate_header("equal_grades")),
    *("n_ratings", "n_pairs_graded", "n_replies", "n_without_grade", "tokens", "money"),
)


@require_safe
@researchers_only
def judge_ranking(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The judges that the address names, or those that graded at least half of the rated pairs."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        selection, ranking = _ranked(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    usage = usage_by_rater(dataset, request.user)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "selection": selection,
        "ranking": ranking,
        "rows": [(row, usage.get(row.column.pk)) for row in ranking.judges],
        "chosen": {row.column.name for row in ranking.judges},
    }
    return render(request, "crux_site/judge_ranking/judge_ranking.html", context)


@require_safe
@researchers_only
def judge_ranking_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """A line for each ranked judge."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        _, ranking = _ranked(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    rows = _rows(ranking, usage_by_rater(dataset, request.user))
    return csv_response(f"{slug}-judges", HEADER, rows)


@require_safe
@researchers_only
def judge_ranking_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All of the page as one object."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        selection, ranking = _ranked(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    usage = usage_by_rater(dataset, request.user)
    content: dict[str, Any] = {
        "dataset": slug,
        "rubric": selection.rubric.slug,
        "raters": [rater.name for rater in selection.raters],
        "eta": selection.eta,
        "measure": ranking.measure,
        "n_rated_pairs": ranking.n_rated,
        "n_common_pairs": ranking.n_common,
        "n_topics": ranking.n_topics,
        "judges": [
            dict(zip(HEADER[:4], row[:4], strict=True))
            | {"agreement": dict(zip(ESTIMATE, estimate_cells(judge.agreement), strict=True))}
            | {
                "equal_grades": dict(
                    zip(ESTIMATE, estimate_cells(judge.scores.accuracy), strict=True)
                )
            }
            | dict(zip(HEADER[-6:-1], row[-6:-1], strict=True))
            | _usage_as_json(usage.get(judge.column.pk))
            for row, judge in zip(_rows(ranking, usage), ranking.judges, strict=True)
        ],
        "left_out": [{"judge": column.name, "n_pairs_graded": n} for column, n in ranking.left_out],
    }
    return json_file(f"{slug}-judges", content)


def _ranked(request: AuthenticatedRequest, dataset: Dataset) -> tuple[Selection, JudgeRanking]:
    selection = asked_for(request, dataset)
    return selection, ranking_of(selection, request.GET.getlist("of"))


def _rows(ranking: JudgeRanking, usage: dict[int, JudgeUsage]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for judge in ranking.judges:
        of_judge = usage.get(judge.column.pk)
        usage_cells: list[Cell] = [None] * 4
        if of_judge:
            money = "; ".join(f"{cost:.6g} {currency}" for currency, cost in of_judge.money)
            usage_cells = [of_judge.n_replies, of_judge.n_failed, of_judge.tokens, money]
        rows.append(
            [
                *(judge.rank, judge.column.name, judge.column.kind),
                of_judge.judge.fingerprint if of_judge else None,
                *(*estimate_cells(judge.agreement), *estimate_cells(judge.scores.accuracy)),
                *(judge.scores.n, judge.n_pairs, *usage_cells),
            ]
        )
    return rows


def _usage_as_json(usage: JudgeUsage | None) -> dict[str, Any]:
    if usage is None:
        return {"failures": {}, "money": {}}
    return {"failures": dict(usage.failures), "money": dict(usage.money)}
