"""Comparison of a report with its reference: measures, and answers to questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.models import SubQuestion, Text
from evaluation.data.columns import Column
from evaluation.data.generations import Generations
from evaluation.metrics.ragquesteval import PAPER
from evaluation.metrics.tokenizers import Tokens, default_tokens, tokens_by_name
from evaluation.scoring.generations import TITLES, MeasureSettings, Scorer

CANNOT_TELL, UNASKED = "Cannot be answered.", "No answer."


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with both answers, and the F1 or the reason for its absence."""

    question: SubQuestion
    reference: str
    report: str
    f1: float | None
    why_not: str


@dataclass(frozen=True)
class AnsweredReport:
    """Measures by title and answered questions of a report; a value may be None."""

    rater: Column | None
    tokens: Tokens
    measures: Mapping[str, float | None]
    questions: list[AnsweredQuestion]


def answers_in(report: Text) -> AnsweredReport | None:
    """Compare a report with its reference; None where neither texts nor answers allow it."""
    if report.topic is None or not report.body:
        return None
    generations = Generations(report.dataset, report.topic.pk, report.pk)
    rater = next(iter(generations.answerers), None)
    if rater is None and not generations.references:
        return None
    tokens = tokens_by_name(default_tokens([report.body, *generations.references.values()]))
    scorer = Scorer(generations, MeasureSettings(tokens, PAPER, rater.pk if rater else None))
    values = scorer.measure(report.system).values
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
    reference_answers = scorer.reference_answers.get(topic, {})
    report_answers = scorer.answers(report.system).get(topic, {})
    scored = scorer.answers_of(topic, report_answers)
    return [
        AnsweredQuestion(
            question,
            _answer_text(reference_answers, question.pk),
            _answer_text(report_answers, question.pk),
            scored.f1.get(question.pk) if scored else None,
            _missing_reason(question, reference_answers, report_answers),
        )
        for question in report.topic.questions.order_by("position")
    ]


def _answer_text(answers: Mapping[int, str | None], question: int) -> str:
    if question not in answers:
        return UNASKED
    text = answers[question]
    return CANNOT_TELL if text is None else text


def _missing_reason(
    question: SubQuestion,
    reference_answers: Mapping[int, str | None],
    report_answers: Mapping[int, str | None],
) -> str:
    """Return the reason why a question has no F1."""
    if question.is_filtered:
        return "filtered"
    if question.pk not in reference_answers or question.pk not in report_answers:
        return "an answer is missing"
    if reference_answers[question.pk] is None:
        return "the reference does not say"
    return "not answered" if report_answers[question.pk] is None else "another answer is missing"
