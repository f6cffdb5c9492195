"""The page of the mixed model as rows of files, and as one object."""

from __future__ import annotations

from typing import Any

from evaluation.csv_tables import ESTIMATE, Cell, estimate_cells, estimate_header
from evaluation.mixed_model.page import Against, ModelReport
from evaluation.mixed_model.params import ModelChoice

Table = tuple[list[str], list[list[Cell]]]


def contrasts_table(choice: ModelChoice, report: ModelReport) -> Table:
    """A line a system: its mean, its difference from the base by the model, the test of equivalence."""
    header = ["system", "base", "outcome", "mean", "n_values", *estimate_header("difference")]
    header += ["p", "p_holm", *estimate_header("equivalence_difference")]
    header += ["margin", "equivalence_p", "equivalence_p_holm", "says"]
    return header, [_line(choice, report, row) for row in report.rows]


def _line(choice: ModelChoice, report: ModelReport, row: Against) -> list[Cell]:
    mean, contrast = row.mean, row.contrast
    by_model: list[Cell] = [*[None] * (len(ESTIMATE) - 1), report.model.reason, None, None]
    if contrast:
        by_model = [*estimate_cells(contrast.difference), contrast.p, contrast.p_holm]
    return [
        *(row.system, choice.base, choice.outcome, mean.value, mean.n),
        *by_model,
        *estimate_cells(row.equivalence),
        *(choice.margin, row.equivalence.p, row.p_holm, row.says),
    ]


def components_table(choice: ModelChoice, report: ModelReport) -> Table:
    """What varies. A variance that these values cannot tell from the residual is empty."""
    return ["component", "variance", "share"], [
        [name, variance, share]
        for name, (_, variance, share) in zip(
            report.model.components, report.components, strict=True
        )
    ]


TABLES = {"contrasts": contrasts_table, "components": components_table}


def as_json(choice: ModelChoice, report: ModelReport) -> dict[str, Any]:
    """All of the page."""
    selection, model = choice.selection, report.model
    tables = {name: table(choice, report) for name, table in TABLES.items()}
    return {
        "dataset": selection.dataset.slug,
        "rubric": selection.rubric.slug,
        "campaign": selection.campaign.slug if selection.campaign else None,
        "eta": selection.eta,
        "raters": [rater.name for rater in selection.raters],
        "outcome": choice.outcome,
        "base": choice.base,
        "margin": choice.margin,
        "n_values": model.n,
        "n_missing": choice.values.n_missing,
        "n_topics": model.n_topics,
        "n_raters": model.n_raters,
        "reason": model.reason,
        **{
            name: [dict(zip(header, row, strict=True)) for row in rows]
            for name, (header, rows) in tables.items()
        },
    }
