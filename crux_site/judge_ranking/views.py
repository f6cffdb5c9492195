"""Judge ranking of a dataset as a page, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from annotation.models import Dataset
from annotation.plurals import n_of
from crux_site.judge_ranking.page import JudgeRanking, JudgeUsage, ranking_of, usage_by_rater
from evaluation.data.certificates import certificate_state
from evaluation.data.filter_line import Phrase
from evaluation.data.selection import Selection
from evaluation.http import chosen, empty_view, json_file, parse_selection
from evaluation.result_tables import Cell, ResultTable, Row, Statistic, estimate_record, table_file

HEADER = (
    *("rank", "judge", "kind", "fingerprint", "certificate"),
    *(Statistic("agreement"), Statistic("equal_grades")),
    *("n_ratings", "n_pairs_graded", "n_replies", "n_without_grade", "tokens", "money"),
)


@dataclass(frozen=True)
class RankingChoice:
    """Selection, and the ranking of its judges."""

    selection: Selection
    ranking: JudgeRanking

    @property
    def dataset(self) -> Dataset:
        return self.selection.dataset

    def filter_phrases(self) -> Iterator[Phrase]:
        selection = self.selection
        without_judge = replace(selection, judge=None, judges=())
        yield from without_judge.filter_phrases()
        yield Phrase(n_of(len(self.ranking.judges), "judge"))
        if selection.etas and not without_judge.uses_eta:
            yield Phrase(f"answerable from grade {selection.eta}")


def _choose(dataset: Dataset, params: QueryDict) -> RankingChoice | None:
    """Parse the selection of a URL, and rank the judges that its `of` names.

    None where no person has graded under the rubric.
    """
    selection = parse_selection(dataset, params)
    if not selection.raters:
        return None
    has_other_rubric = params.get("of_rubric", selection.rubric.slug) != selection.rubric.slug
    names = [] if has_other_rubric else params.getlist("of")
    return RankingChoice(selection, ranking_of(selection, names))


_of_ranking = chosen(
    _choose,
    empty_view("crux_site/judge_ranking/nobody.html", "No person has graded under this rubric."),
)


@_of_ranking
def judge_ranking(request: AuthenticatedRequest, choice: RankingChoice) -> HttpResponse:
    """Show the ranking of the judges in the URL, or of those that graded half of the pairs."""
    usage = usage_by_rater(choice.dataset, request.user)
    judges = choice.ranking.judges
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "selection": choice.selection,
        "ranking": choice.ranking,
        "rows": [(row, usage.get(row.column.pk)) for row in judges],
        "chosen": {row.column.name for row in judges},
    }
    return render(request, "crux_site/judge_ranking/judge_ranking.html", context)


@_of_ranking
def judge_ranking_table_file(
    request: AuthenticatedRequest, choice: RankingChoice, file_format: str
) -> HttpResponse:
    """Send the ranking as a file, a line for each judge."""
    rows = _rows(choice.selection, choice.ranking, usage_by_rater(choice.dataset, request.user))
    return table_file(
        request,
        file_format,
        ResultTable(HEADER, rows),
        name=f"{choice.dataset.slug}-judges",
        caption=f"Judges on the same pairs of {choice.dataset.title}",
    )


@_of_ranking
def judge_ranking_json(request: AuthenticatedRequest, choice: RankingChoice) -> HttpResponse:
    """Send the content of the page as one JSON object."""
    selection, ranking = choice.selection, choice.ranking
    usage = usage_by_rater(choice.dataset, request.user)
    content: dict[str, Any] = {
        "dataset": choice.dataset.slug,
        "rubric": selection.rubric.slug,
        "raters": [rater.name for rater in selection.raters],
        "campaign": selection.campaign.slug if selection.campaign else None,
        "exposed": selection.exposed,
        "eta": selection.eta,
        "measure": ranking.measure,
        "n_rated_pairs": ranking.n_rated,
        "n_common_pairs": ranking.n_common,
        "n_topics": ranking.n_topics,
        "judges": [
            dict(zip(HEADER[:5], row[:5], strict=True))
            | {"agreement": estimate_record(judge.agreement)}
            | {"equal_grades": estimate_record(judge.scores.accuracy)}
            | dict(zip(HEADER[-6:-1], row[-6:-1], strict=True))
            | _usage_as_json(usage.get(judge.column.pk))
            for row, judge in zip(
                _rows(choice.selection, ranking, usage), ranking.judges, strict=True
            )
        ],
        "left_out": [{"judge": column.name, "n_pairs_graded": n} for column, n in ranking.left_out],
    }
    return json_file(f"{choice.dataset.slug}-judges", content)


def _rows(selection: Selection, ranking: JudgeRanking, usage: dict[int, JudgeUsage]) -> list[Row]:
    rows: list[Row] = []
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
                str(certificate_state(selection.dataset, judge.column.pk, selection.rubric.pk)),
                *(judge.agreement, judge.scores.accuracy),
                *(judge.scores.n, judge.n_pairs, *usage_cells),
            ]
        )
    return rows


def _usage_as_json(usage: JudgeUsage | None) -> dict[str, Any]:
    if usage is None:
        return {"failures": {}, "money": {}}
    return {"failures": dict(usage.failures), "money": dict(usage.money)}
