"""One report nugget by nugget: its weight, its assignment, and the pair that says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import SubQuestion, Text
from evaluation.nuggets.page import nugget_report
from evaluation.nuggets.params import NuggetChoice
from evaluation.nuggets.scores import LEVELS, WEIGHTS, ReportScore


@dataclass(frozen=True)
class NuggetRow:
    """A nugget; its weight and its assignment in a word, empty where nobody said."""

    question: SubQuestion
    weight: str
    assignment: str


@dataclass(frozen=True)
class ReportPage:
    """`score` is None where the topic has no nugget."""

    text: Text
    score: ReportScore | None
    rows: tuple[NuggetRow, ...]


def report_page(choice: NuggetChoice, text: Text) -> ReportPage:
    scored = nugget_report(choice).reports
    score = next((report for report in scored if report.text == text.pk), None)
    if score is None:
        return ReportPage(text, None, ())
    nuggets = score.topic.nuggets
    words = SubQuestion.objects.in_bulk([nugget.pk for nugget in nuggets])
    return ReportPage(
        text,
        score,
        tuple(
            NuggetRow(words[nugget.pk], _word(WEIGHTS, nugget.weight), _word(LEVELS, grade))
            for nugget, grade in zip(nuggets, score.grades.tolist(), strict=True)
        ),
    )


def _word(words: dict[int, str], grade: float) -> str:
    return "" if np.isnan(grade) else words[int(grade)].replace("_", " ")
