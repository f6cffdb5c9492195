"""A report beside its reference: the measures of the grid, and the answers to the questions in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.models import SubQuestion, Text
from evaluation.data.columns import Column
from evaluation.data.generations import Generations
from evaluation.metrics.ragquesteval import PAPER
from evaluation.metrics.words import Tokens, tokens_called, usual_tokens
from evaluation.scoring.generations import TITLES, Asked, Scorer

CANNOT_TELL, UNASKED = "It cannot be told.", "Nobody was asked."


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with both answers, and the F1 of the report's; `why_not` says why there is none."""

    question: SubQuestion
    reference: str
    report: str
    f1: float | None
    why_not: str


@dataclass(frozen=True)
class AnsweredReport:
    """`measures` by their titles; None where the report has none of that value."""

    rater: Column | None
    tokens: Tokens
    measures: Mapping[str, float | None]
    questions: list[AnsweredQuestion]


def answers_in(report: Text) -> AnsweredReport | None:
    """What is known of a report beside its reference; None where neither words nor answers can be compared."""
    if report.topic is None or not report.body:
        return None
    here = Generations(report.dataset, report.topic.pk, report.pk)
    rater = next(iter(here.answerers), None)
    if rater is None and not here.references:
        return None
    tokens = tokens_called(usual_tokens([report.body, *here.references.values()]))
    scorer = Scorer(here, Asked(tokens, PAPER, rater.pk if rater else None))
    values = scorer.measured(report.system).values
    return AnsweredReport(
        rater,
        tokens,
        {title: _number(values[name]) for name, title in TITLES.items() if name in values},
        _questions(report, scorer) if rater else [],
    )


def _number(values: np.ndarray) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def _questions(report: Text, scorer: Scorer) -> list[AnsweredQuestion]:
    assert report.topic is not None
    topic = report.topic.pk
    meant = scorer.reference_answers.get(topic, {})
    given = scorer.answers(report.system).get(topic, {})
    scored = scorer.answers_of(topic, given)
    return [
        AnsweredQuestion(
            question,
            _words(meant, question.pk),
            _words(given, question.pk),
            scored.f1.get(question.pk) if scored else None,
            _why_not(question, meant, given),
        )
        for question in report.topic.questions.order_by("position")
    ]


def _words(answers: Mapping[int, str | None], question: int) -> str:
    if question not in answers:
        return UNASKED
    words = answers[question]
    return CANNOT_TELL if words is None else words


def _why_not(
    question: SubQuestion, meant: Mapping[int, str | None], given: Mapping[int, str | None]
) -> str:
    """Why a question has no F1, in a few words."""
    if question.is_filtered:
        return "filtered"
    if question.pk not in meant or question.pk not in given:
        return "an answer is missing"
    if meant[question.pk] is None:
        return "the reference does not say"
    return "not answered" if given[question.pk] is None else "another answer is missing"
