"""The judges of a dataset ranked by their agreement with people on the same pairs: a page, CSV and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from annotation.models import Dataset
from crux_site.judge_ranking.page import JudgeRanking, JudgeUsage, ranking_of, usage_by_rater
from evaluation.csv_tables import ESTIMATE, Cell, csv_response, estimate_cells, estimate_header
from evaluation.data.selection import Selection
from evaluation.http import chosen, json_file, selection_of

HEADER = (
    *("rank", "judge", "kind", "fingerprint"),
    *(*estimate_header("agreement"), *estimate_header("equal_grades")),
    *("n_ratings", "n_pairs_graded", "n_replies", "n_without_grade", "tokens", "money"),
)


@dataclass(frozen=True)
class RankingChoice:
    """A selection, and the ranking of its judges."""

    selection: Selection
    ranking: JudgeRanking

    @property
    def dataset(self) -> Dataset:
        return self.selection.dataset


def _choose(dataset: Dataset, words: QueryDict) -> RankingChoice:
    """The selection that the parameters of a URL ask for, and the judges named by `of`."""
    selection = selection_of(dataset, words)
    has_other_rubric = words.get("of_rubric", selection.rubric.slug) != selection.rubric.slug
    names = [] if has_other_rubric else words.getlist("of")
    return RankingChoice(selection, ranking_of(selection, names))


@chosen(_choose)
def judge_ranking(request: AuthenticatedRequest, choice: RankingChoice) -> HttpResponse:
    """The judges that the address names, or those that graded at least half of the rated pairs."""
    usage = usage_by_rater(choice.dataset, request.user)
    judges = choice.ranking.judges
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "selection": choice.selection,
        "ranking": choice.ranking,
        "rows": [(row, usage.get(row.column.pk)) for row in judges],
        "chosen": {row.column.name for row in judges},
    }
    return render(request, "crux_site/judge_ranking/judge_ranking.html", context)


@chosen(_choose)
def judge_ranking_csv(request: AuthenticatedRequest, choice: RankingChoice) -> HttpResponse:
    """A line for each ranked judge."""
    rows = _rows(choice.ranking, usage_by_rater(choice.dataset, request.user))
    return csv_response(f"{choice.dataset.slug}-judges", HEADER, rows)


@chosen(_choose)
def judge_ranking_json(request: AuthenticatedRequest, choice: RankingChoice) -> HttpResponse:
    """All of the page as one object."""
    selection, ranking = choice.selection, choice.ranking
    usage = usage_by_rater(choice.dataset, request.user)
    content: dict[str, Any] = {
        "dataset": choice.dataset.slug,
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
    return json_file(f"{choice.dataset.slug}-judges", content)


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
