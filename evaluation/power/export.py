"""CSV rows of the power page, and the page as one JSON object."""

from __future__ import annotations

from typing import Any

from evaluation.power.page import PowerReport
from evaluation.power.query import PowerQuery
from evaluation.result_tables import ResultTable

HEADER = ["raters", "variance_of_difference", "topics_needed", "systems", "ratings_needed"]
HEADER += ["drawn_topics", "smallest_difference", "power_of_drawn", "reason"]


def power_table(report: PowerReport) -> ResultTable:
    """Return a row for each number of raters per text."""
    return ResultTable(
        HEADER,
        [
            [
                *(design.raters, design.variance.value),
                None if design.topics.value is None else int(design.topics.value),
                *(design.systems, design.ratings, report.sample.topics),
                *(design.smallest.value, design.power.value),
                design.topics.reason or design.smallest.reason,
            ]
            for design in report.designs
        ],
    )


def as_json(choice: PowerQuery, report: PowerReport) -> dict[str, Any]:
    """Return the whole page as a JSON object."""
    study = choice.selection.campaign
    return {
        "campaign": choice.campaign.slug,
        "study": study.slug if study else None,
        "outcome": choice.outcome,
        "difference": choice.difference,
        "power": choice.power,
        "readers": choice.readers,
        "n_values": report.model.n,
        "n_topics": report.model.n_topics,
        "n_raters": report.model.n_raters,
        "reason": report.model.reason,
        "components": report.model.components,
        "designs": power_table(report).records(),
    }
