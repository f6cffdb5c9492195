"""The page of power as rows of a file, and as one object."""

from __future__ import annotations

from typing import Any

from evaluation.csv_tables import Cell
from evaluation.power.page import PowerReport
from evaluation.power.params import PowerChoice

HEADER = ["raters", "variance_of_difference", "topics_needed", "systems", "ratings_needed"]
HEADER += ["drawn_topics", "smallest_difference", "power_of_drawn", "reason"]


def power_rows(report: PowerReport) -> list[list[Cell]]:
    """A line for each number of raters of a text."""
    return [
        [
            *(design.raters, design.variance.value),
            None if design.topics.value is None else int(design.topics.value),
            *(design.systems, design.ratings, report.drawn.topics),
            *(design.smallest.value, design.power.value),
            design.topics.reason or design.smallest.reason,
        ]
        for design in report.designs
    ]


def as_json(choice: PowerChoice, report: PowerReport) -> dict[str, Any]:
    """All of the page."""
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
        "designs": [dict(zip(HEADER, row, strict=True)) for row in power_rows(report)],
    }
