"""CSV tables of the mixed model page, and the page as one JSON object."""

from __future__ import annotations

from typing import Any

from evaluation.data.certificates import certificates_in_words
from evaluation.mixed_model.page import CONFOUNDED, Against, ModelReport
from evaluation.mixed_model.query import ModelQuery
from evaluation.result_tables import ResultTable, Row, Statistic
from evaluation.stats.estimate import Estimate


def contrasts_table(choice: ModelQuery, report: ModelReport) -> ResultTable:
    """Return a row for each system: mean, contrast with the base, and equivalence test."""
    header = ["system", "base", "outcome", "mean", "n_values", Statistic("difference")]
    header += ["p", "p_holm", Statistic("equivalence_difference")]
    header += ["margin", "equivalence_p", "equivalence_p_holm", "equivalence_p_reason", "says"]
    return ResultTable(header, [_line(choice, report, row) for row in report.rows])


def _line(choice: ModelQuery, report: ModelReport, row: Against) -> Row:
    mean, contrast = row.mean, row.contrast
    by_model: Row = [
        Estimate(None, report.model.reason, 0) if report.model.reason else None,
        None,
        None,
    ]
    if contrast:
        by_model = [contrast.difference, contrast.p, contrast.p_holm]
    return [
        *(row.system, choice.base, choice.outcome, mean.value, mean.n),
        *by_model,
        row.equivalence,
        *(choice.margin, row.equivalence.p, row.p_holm, row.p_reason, row.says),
    ]


def components_table(choice: ModelQuery, report: ModelReport) -> ResultTable:
    """Return the variance components; one that is confounded with the residual has a reason."""
    return ResultTable(
        ["component", "variance", "share", "reason"],
        [
            [name, variance, share, CONFOUNDED if variance is None else None]
            for name, (_, variance, share) in zip(
                report.model.components, report.components, strict=True
            )
        ],
    )


TABLES = {"contrasts": contrasts_table, "components": components_table}


def as_json(choice: ModelQuery, report: ModelReport) -> dict[str, Any]:
    """Return the whole page as a JSON object."""
    selection, model = choice.selection, report.model
    tables = {name: table(choice, report) for name, table in TABLES.items()}
    return {
        "dataset": selection.dataset.slug,
        "certificates": certificates_in_words(selection.dataset, selection.filter_phrases()),
        "rubric": selection.rubric.slug,
        "campaign": selection.campaign.slug if selection.campaign else None,
        "eta": selection.eta,
        "raters": [rater.name for rater in selection.raters],
        "exposed": selection.exposed,
        "outcome": choice.outcome,
        "base": choice.base,
        "margin": choice.margin,
        "n_values": model.n,
        "n_missing": choice.system_values.n_missing,
        "n_topics": model.n_topics,
        "n_raters": model.n_raters,
        "reason": model.reason,
        **{name: table.records() for name, table in tables.items()},
    }
