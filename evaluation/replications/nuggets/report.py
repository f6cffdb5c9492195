"""Nuggets of one report: weight, assignment, and link to the pair with the grade."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import SubQuestion, Text
from evaluation.replications.nuggets.page import nugget_report
from evaluation.replications.nuggets.query import NuggetQuery
from evaluation.replications.nuggets.scores import LEVELS, WEIGHTS, ReportScore


@dataclass(frozen=True)
class NuggetRow:
    """Nugget with labels of its weight and assignment, empty where it is ungraded."""

    question: SubQuestion
    weight: str
    assignment: str


@dataclass(frozen=True)
class ReportPage:
    """`score` is None where the topic has no nugget."""

    text: Text
    score: ReportScore | None
    rows: tuple[NuggetRow, ...]


def report_page(choice: NuggetQuery, text: Text) -> ReportPage:
    scored = nugget_report(choice).reports
    score = next((report for report in scored if report.text == text.pk), None)
    if score is None:
        return ReportPage(text, None, ())
    nuggets = score.topic.nuggets
    questions = SubQuestion.objects.in_bulk([nugget.pk for nugget in nuggets])
    return ReportPage(
        text,
        score,
        tuple(
            NuggetRow(questions[nugget.pk], _label(WEIGHTS, nugget.weight), _label(LEVELS, grade))
            for nugget, grade in zip(nuggets, score.grades.tolist(), strict=True)
        ),
    )


def _label(labels: dict[int, str], grade: float) -> str:
    return "" if np.isnan(grade) else labels[int(grade)].replace("_", " ")
