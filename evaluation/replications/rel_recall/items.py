"""Items of one report: its output, the relevant part of it, and retrieved passages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from annotation.models import Dataset, SubQuestion, Text
from evaluation.replications.rel_recall.material import (
    Material,
    Report,
    TopicMaterial,
    answered,
    load_material,
)
from evaluation.replications.rel_recall.query import Options
from evaluation.replications.rel_recall.scores import ReportScore, of_answers, of_citations


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """A passage of the context at its rank, from 1."""

    rank: int
    pk: int
    name: str


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """Unfiltered question. `is_out` is None where the report has no grade on it.

    `retrieved_in` are the passages of the context that answer it; None where the context is not known.
    """

    pk: int
    number: int
    body: str
    is_out: bool | None
    is_relevant: bool
    retrieved_in: tuple[ContextPassage, ...] | None


@dataclass(frozen=True, slots=True)
class CitedItem:
    """Text that is cited or relevant: `n_cited` counts citations, `rank` is in the context.

    `text` is None for a citation of nothing known, whose label is its name; `is_rated` is True if
    anybody graded it for this topic. `question` is the first one that it answers, or else the first
    unfiltered one.
    """

    text: int | None
    name: str
    n_cited: int
    is_relevant: bool
    rank: int | None
    is_rated: bool
    question: int | None = None


@dataclass(frozen=True, slots=True)
class StatementItem:
    body: str
    cited: tuple[str, ...]


@dataclass(frozen=True)
class Items:
    """Items of one report: answers by question; cited texts, then missed ones.

    `cites` says whether any report of the system cites: else nothing is there to be missed.
    """

    report: Text
    of_answers: ReportScore
    of_citations: ReportScore
    answers: tuple[AnswerItem, ...]
    cited: tuple[CitedItem, ...]
    cites: bool
    statements: tuple[StatementItem, ...]
    context: tuple[ContextPassage, ...] | None


def items_of(dataset: Dataset, text: Text, options: Options) -> Items | None:
    """The items of a report; None for a report of no topic."""
    material = load_material(dataset, options)
    report = next((candidate for candidate in material.reports if candidate.pk == text.pk), None)
    if report is None:
        return None
    topic = material.topics[report.topic]
    context = _context(material, report)
    return Items(
        report=text,
        of_answers=of_answers(material, topic, report, options),
        of_citations=of_citations(material, topic, report, options),
        answers=tuple(_answers(topic, report, options, context)),
        cited=tuple(_cited(material, topic, report)),
        cites=any(
            candidate.marks for candidate in material.reports if candidate.system == report.system
        ),
        statements=tuple(_statements(material, text, report)),
        context=context,
    )


def _context(material: Material, report: Report) -> tuple[ContextPassage, ...] | None:
    if report.context is None:
        return None
    names = material.names(report.context)
    return tuple(
        ContextPassage(rank, pk, name)
        for rank, (pk, name) in enumerate(zip(report.context, names, strict=True), 1)
    )


def _answers(
    topic: TopicMaterial,
    report: Report,
    options: Options,
    context: tuple[ContextPassage, ...] | None,
) -> list[AnswerItem]:
    rel = topic.unfiltered if options.rel == "asked" else topic.answerable
    out = answered(topic.reports, [report.pk])
    row = topic.reports.row(report.pk)
    answers_of_passages = [
        (passage, answered(topic.passages, [passage.pk])) for passage in context or ()
    ]
    questions = SubQuestion.objects.filter(topic=topic.pk, position__in=topic.unfiltered)
    return [
        AnswerItem(
            pk=question.pk,
            number=question.number,
            body=question.body,
            is_out=question.position in out if _is_rated(topic, row, question.position) else None,
            is_relevant=question.position in rel,
            retrieved_in=None
            if context is None
            else tuple(
                passage for passage, answers in answers_of_passages if question.position in answers
            ),
        )
        for question in questions.order_by("position")
    ]


def _is_rated(topic: TopicMaterial, row: int | None, position: int) -> bool:
    return row is not None and not np.isnan(topic.reports.grades[row, position])


def _cited(material: Material, topic: TopicMaterial, report: Report) -> list[CitedItem]:
    mentions = Counter(mark.text for mark in report.marks if mark.text is not None)
    ranks = {text: rank for rank, text in enumerate(report.context or (), 1)}
    missed = sorted(
        topic.relevant - mentions.keys(), key=lambda text: ranks.get(text, len(ranks) + 1)
    )
    texts = [*mentions, *missed]
    items = [
        CitedItem(
            text=text,
            name=name,
            n_cited=mentions[text],
            is_relevant=text in topic.relevant,
            rank=ranks.get(text),
            is_rated=topic.passages.row(text) is not None,
            question=_question(material, topic, text),
        )
        for text, name in zip(texts, material.names(texts), strict=True)
    ]
    labels = Counter(f"[{mark.label}]" for mark in report.marks if mark.text is None)
    items += [CitedItem(None, label, n, False, None, False) for label, n in labels.items()]
    return sorted(items, key=lambda item: not item.n_cited)


def _question(material: Material, topic: TopicMaterial, text: int) -> int | None:
    positions = sorted(answered(topic.passages, [text]) & topic.unfiltered or topic.unfiltered)
    keys = {question.position: question.pk for question in material.corpus.questions[topic.pk]}
    return keys[positions[0]] if positions else None


def _statements(material: Material, text: Text, report: Report) -> list[StatementItem]:
    body, statements = text.body or "", dict.fromkeys(mark.statement for mark in report.marks)
    cited = [mark.text for mark in report.marks if mark.text is not None]
    names = dict(zip(cited, material.names(cited), strict=True))
    return [
        StatementItem(
            body[start:end],
            tuple(
                f"[{mark.label}]" if mark.text is None else names[mark.text]
                for mark in report.marks
                if mark.statement == (start, end)
            ),
        )
        for start, end in statements
    ]
