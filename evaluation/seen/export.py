"""The page of Rel and Rel' as tables of files, and as one object; the items of a report too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.models.standard import UTILITY
from evaluation.csv_tables import Cell, estimate_cells, estimate_header
from evaluation.metrics.exact_match import LIST_MEASURES
from evaluation.metrics.relevance_seen import MEASURES
from evaluation.seen.items import CitedItem, Items
from evaluation.seen.lists import ListSystem
from evaluation.seen.params import Options, SeenChoice
from evaluation.seen.scores import WHATS, ReportScore, Scores, SystemScore
from evaluation.seen.utility import UtilityRow
from evaluation.stats.estimate import Estimate

Table = tuple[list[str], Iterator[list[Cell]]]

OF_SYSTEM = (
    "n_topics",
    "n_out",
    "n_unseen",
    "n_compared",
    "n_unrated_passages",
    "n_unjudged",
    "n_unknown",
)
OF_REPORT = (
    *("n_out", "n_rel", "n_passages", "n_unrated_passages", "n_unjudged"),
    "n_statements",
)


def systems_table(scores: Scores) -> Table:
    """A line for each system and what is counted: macro means, then micro shares."""
    header = ["what", "system", "reports", *OF_SYSTEM]
    for way in ("", "micro_"):
        for measure in MEASURES:
            header += estimate_header(f"{way}{measure}")

    def lines() -> Iterator[list[Cell]]:
        for what in WHATS:
            for row in scores.rows[what]:
                estimates = [*row.macro.values(), *row.micro.values()]
                yield [
                    *(what, row.system, len(row.reports)),
                    *(getattr(row, name) for name in OF_SYSTEM),
                    *(cell for estimate in estimates for cell in estimate_cells(estimate)),
                ]

    return header, lines()


def reports_table(scores: Scores) -> Table:
    """A line for each report and what is counted; the reason stands beside what is undefined."""
    header = ["what", "system", "topic", "report"]
    for measure in MEASURES:
        header += [measure, f"{measure}_n", f"{measure}_reason"]
    header += ["n_unseen", "n_rel_prime", *OF_REPORT]

    def lines() -> Iterator[list[Cell]]:
        for what in WHATS:
            for row in scores.rows[what]:
                for each in row.reports if row.is_one else ():
                    values = [each.scores.measure(measure) for measure in MEASURES]
                    yield [
                        *(what, row.system, each.topic, each.report.name),
                        *(cell for v in values for cell in (v.value, v.n, v.reason)),
                        *(each.n_unseen, each.n_rel_prime),
                        *(getattr(each, name) for name in OF_REPORT),
                    ]

    return header, lines()


def lists_table(scores: Scores) -> Table:
    """Lists of answers as ALCE's code scores them, a line a system."""
    header = ["system", "reports"]
    for measure in LIST_MEASURES:
        header += estimate_header(measure)
    return header, (
        [
            *(system.system, len(system.reports)),
            *(cell for name in LIST_MEASURES for cell in estimate_cells(system.macro[name])),
        ]
        for system in scores.lists
    )


def utility_table(scores: Scores) -> Table:
    """Reports as a whole, a line a rater and system."""
    grades = [level.grade for level in reversed(UTILITY.levels)]
    header = ["rater", "system", *(f"n_{grade}" for grade in grades)]
    for name in ("utility", "answered", "spearman"):
        header += estimate_header(name)
    return header, (
        [
            *(row.rater, row.system),
            *(row.grades[grade] for grade in grades),
            *(
                cell
                for of in (row.utility, row.answered, row.spearman)
                for cell in estimate_cells(of)
            ),
        ]
        for row in scores.utility
    )


TABLES = {
    "systems": systems_table,
    "reports": reports_table,
    "lists": lists_table,
    "utility": utility_table,
}


def as_json(choice: SeenChoice, scores: Scores) -> dict[str, Any]:
    """All of the page, as `manage.py seen --json` prints it too."""
    return {
        "dataset": choice.dataset.slug,
        **_asked(choice.options),
        **{what: [_system(row) for row in scores.rows[what]] for what in WHATS},
        "lists": [_list(system) for system in scores.lists],
        "utility": [_utility(row) for row in scores.utility],
        "left_out": {what: list(names) for what, names in scores.left_out.items()},
    }


def _asked(options: Options) -> dict[str, Any]:
    return options.params() | {"eta": options.eta, "depth": options.depth}


def _system(row: SystemScore) -> dict[str, Any]:
    return {
        "system": row.system,
        **{name: getattr(row, name) for name in OF_SYSTEM},
        "macro": _estimates(row.macro),
        "micro": _estimates(row.micro),
        # Those of all systems stand in their own rows.
        "reports": [report_json(each) for each in row.reports] if row.is_one else [],
    }


def report_json(each: ReportScore) -> dict[str, Any]:
    return {
        "topic": each.topic,
        "report": each.report.name,
        "text": each.report.pk,
        **_estimates({measure: each.scores.measure(measure) for measure in MEASURES}),
        "n_unseen": each.n_unseen,
        "n_rel_prime": each.n_rel_prime,
        **{name: getattr(each, name) for name in OF_REPORT},
    }


def _list(system: ListSystem) -> dict[str, Any]:
    return {
        "system": system.system,
        "macro": _estimates(system.macro),
        "reports": [
            {
                "topic": each.topic,
                "report": each.report,
                "predictions": list(each.predictions),
                **{name: getattr(each.scores, name).value for name in LIST_MEASURES},
            }
            for each in system.reports
        ],
    }


def _utility(row: UtilityRow) -> dict[str, Any]:
    return {
        "rater": row.rater,
        "system": row.system,
        **_estimates({"utility": row.utility, "answered": row.answered, "spearman": row.spearman}),
        "grades": {str(grade): n for grade, n in row.grades.items()},
    }


def _estimates(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        name: {
            "value": estimate.value,
            "n": estimate.n,
            "missing": estimate.missing,
            "ci95": None if estimate.low is None else [estimate.low, estimate.high],
            "reason": estimate.reason or estimate.interval_reason,
        }
        for name, estimate in estimates.items()
    }


def items_json(choice: SeenChoice, items: Items) -> dict[str, Any]:
    """The items of one report, with its values. `seen_in` has the names of passages, best first."""
    return {
        "dataset": choice.dataset.slug,
        "system": items.report.system,
        **_asked(choice.options),
        "context": None if items.context is None else [place.name for place in items.context],
        "answers": report_json(items.of_answers)
        | {
            "items": [
                {
                    "question": item.body,
                    "out": item.is_out,
                    "relevant": item.is_relevant,
                    "seen_in": None
                    if item.seen_in is None
                    else [place.name for place in item.seen_in],
                }
                for item in items.answers
            ]
        },
        "citations": report_json(items.of_citations)
        | {
            "items": [_cited(item) for item in items.cited],
            "statements": [
                {"words": statement.words, "cited": list(statement.cited)}
                for statement in items.statements
            ],
        },
    }


def _cited(item: CitedItem) -> dict[str, Any]:
    return {
        "text": item.name,
        "n_cited": item.n_cited,
        "relevant": item.is_relevant,
        "rank": item.rank,
        "rated": item.is_rated,
    }
