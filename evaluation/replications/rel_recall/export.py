"""CSV tables and JSON of the page of Rel and Rel', and of the items of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.models.standard import UTILITY
from evaluation.data.certificates import certificates_in_words
from evaluation.metrics.exact_match import LIST_MEASURES
from evaluation.metrics.relevance_seen import MEASURES
from evaluation.replications.rel_recall.items import CitedItem, Items
from evaluation.replications.rel_recall.lists import ListSystem
from evaluation.replications.rel_recall.query import Options, SeenQuery
from evaluation.replications.rel_recall.scores import OUTPUT_KINDS, ReportScore, Scores, SystemScore
from evaluation.replications.rel_recall.utility import UtilityRow
from evaluation.result_tables import ResultTable, Row, Statistic
from evaluation.stats.estimate import Estimate

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


def systems_table(scores: Scores) -> ResultTable:
    """Return a line for each kind and system: macro means, then micro shares."""
    header = ["what", "system", "reports", *OF_SYSTEM]
    header += [Statistic(f"{way}{measure}") for way in ("", "micro_") for measure in MEASURES]

    def lines() -> Iterator[Row]:
        for kind in OUTPUT_KINDS:
            for row in scores.rows[kind]:
                yield [
                    *(kind, row.system, len(row.reports)),
                    *(getattr(row, name) for name in OF_SYSTEM),
                    *(*row.macro.values(), *row.micro.values()),
                ]

    return ResultTable(header, lines())


def reports_table(scores: Scores) -> ResultTable:
    """Return a line for each kind and report, with the reason of an undefined value."""
    header = ["what", "system", "topic", "report"]
    for measure in MEASURES:
        header += [measure, f"{measure}_n", f"{measure}_reason"]
    header += ["n_unseen", "n_rel_prime", *OF_REPORT]

    def lines() -> Iterator[Row]:
        for kind in OUTPUT_KINDS:
            for row in scores.rows[kind]:
                for score in row.reports if row.is_one else ():
                    values = [score.scores.measure(measure) for measure in MEASURES]
                    yield [
                        *(kind, row.system, score.topic, score.report.name),
                        *(cell for v in values for cell in (v.value, v.n, v.reason)),
                        *(score.n_unseen, score.n_rel_prime),
                        *(getattr(score, name) for name in OF_REPORT),
                    ]

    return ResultTable(header, lines())


def lists_table(scores: Scores) -> ResultTable:
    """Lists of answers as ALCE's code scores them, a line a system."""
    header = ["system", "reports", *map(Statistic, LIST_MEASURES)]
    return ResultTable(
        header,
        (
            [
                *(system.system, len(system.reports)),
                *(system.macro[name] for name in LIST_MEASURES),
            ]
            for system in scores.lists
        ),
    )


def utility_table(scores: Scores) -> ResultTable:
    """Reports as a whole, a line a rater and system."""
    grades = [level.grade for level in reversed(UTILITY.levels)]
    header = ["rater", "system", *(f"n_{grade}" for grade in grades)]
    header += map(Statistic, ("utility", "answered", "spearman"))
    return ResultTable(
        header,
        (
            [
                *(row.rater, row.system),
                *(row.grades[grade] for grade in grades),
                *(row.utility, row.answered, row.spearman),
            ]
            for row in scores.utility
        ),
    )


TABLES = {
    "systems": systems_table,
    "reports": reports_table,
    "lists": lists_table,
    "utility": utility_table,
}


def as_json(choice: SeenQuery, scores: Scores) -> dict[str, Any]:
    """All of the page, as `manage.py seen --json` prints it too."""
    return {
        "dataset": choice.dataset.slug,
        "certificates": certificates_in_words(choice.dataset, choice.filter_phrases()),
        **_option_params(choice.options),
        **{kind: [_system(row) for row in scores.rows[kind]] for kind in OUTPUT_KINDS},
        "lists": [_list(system) for system in scores.lists],
        "utility": [_utility(row) for row in scores.utility],
        "left_out": {kind: list(names) for kind, names in scores.left_out.items()},
    }


def _option_params(options: Options) -> dict[str, Any]:
    return options.params() | {"eta": options.eta, "depth": options.depth}


def _system(row: SystemScore) -> dict[str, Any]:
    return {
        "system": row.system,
        **{name: getattr(row, name) for name in OF_SYSTEM},
        "macro": _estimates(row.macro),
        "micro": _estimates(row.micro),
        # Those of all systems stand in their own rows.
        "reports": [report_json(score) for score in row.reports] if row.is_one else [],
    }


def report_json(score: ReportScore) -> dict[str, Any]:
    return {
        "topic": score.topic,
        "report": score.report.name,
        "text": score.report.pk,
        **_estimates({measure: score.scores.measure(measure) for measure in MEASURES}),
        "n_unseen": score.n_unseen,
        "n_rel_prime": score.n_rel_prime,
        **{name: getattr(score, name) for name in OF_REPORT},
    }


def _list(system: ListSystem) -> dict[str, Any]:
    return {
        "system": system.system,
        "macro": _estimates(system.macro),
        "reports": [
            {
                "topic": report.topic,
                "report": report.report,
                "predictions": list(report.predictions),
                **{name: getattr(report.scores, name).value for name in LIST_MEASURES},
            }
            for report in system.reports
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


def items_json(choice: SeenQuery, items: Items) -> dict[str, Any]:
    """Return the items of one report, with its values, for JSON.

    `seen_in` has the names of passages, best first.
    """
    return {
        "dataset": choice.dataset.slug,
        "certificates": certificates_in_words(choice.dataset, choice.filter_phrases()),
        "system": items.report.system,
        **_option_params(choice.options),
        "context": None if items.context is None else [passage.name for passage in items.context],
        "answers": report_json(items.of_answers)
        | {
            "items": [
                {
                    "question": item.body,
                    "out": item.is_out,
                    "relevant": item.is_relevant,
                    "seen_in": None
                    if item.retrieved_in is None
                    else [passage.name for passage in item.retrieved_in],
                }
                for item in items.answers
            ]
        },
        "citations": report_json(items.of_citations)
        | {
            "items": [_cited(item) for item in items.cited],
            "statements": [
                {"words": statement.body, "cited": list(statement.cited)}
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
