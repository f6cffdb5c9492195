"""The items of one report: what it put out, what of that is relevant, and what it had seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from annotation.models import Dataset, SubQuestion, Text
from evaluation.seen.material import Material, Report, TopicMaterial, answered, load_material
from evaluation.seen.params import Options
from evaluation.seen.scores import ReportScore, of_answers, of_citations


@dataclass(frozen=True, slots=True)
class Place:
    """A passage of the context at its rank, from 1."""

    rank: int
    pk: int
    name: str


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """A question that is asked. `is_out` is None where the report has no grade on it.

    `seen_in` are the passages of the context that answer it; None where the context is not known.
    """

    pk: int
    number: int
    body: str
    is_out: bool | None
    is_relevant: bool
    seen_in: tuple[Place, ...] | None


@dataclass(frozen=True, slots=True)
class CitedItem:
    """A text that is cited or relevant. `n_cited` says how often; `rank` is its place in the context.

    `text` is None for a citation of nothing known, whose label is its name; `is_rated` whether anybody
    graded it for this topic. `question` is the first one that it answers, or else the first one asked.
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
    words: str
    cited: tuple[str, ...]


@dataclass(frozen=True)
class Items:
    """One report. The answers are in the order of the questions; cited texts first, then what was missed.

    `cites` says whether any report of the system cites: else nothing is there to be missed.
    """

    report: Text
    of_answers: ReportScore
    of_citations: ReportScore
    answers: tuple[AnswerItem, ...]
    cited: tuple[CitedItem, ...]
    cites: bool
    statements: tuple[StatementItem, ...]
    context: tuple[Place, ...] | None


def items_of(dataset: Dataset, text: Text, options: Options) -> Items | None:
    """The items of a report; None for a report of no topic."""
    material = load_material(dataset, options)
    report = next((each for each in material.reports if each.pk == text.pk), None)
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
        cites=any(each.marks for each in material.reports if each.system == report.system),
        statements=tuple(_statements(material, text, report)),
        context=context,
    )


def _context(material: Material, report: Report) -> tuple[Place, ...] | None:
    if report.context is None:
        return None
    names = material.names(report.context)
    return tuple(
        Place(rank, pk, name)
        for rank, (pk, name) in enumerate(zip(report.context, names, strict=True), 1)
    )


def _answers(
    topic: TopicMaterial, report: Report, options: Options, context: tuple[Place, ...] | None
) -> list[AnswerItem]:
    rel = topic.asked if options.rel == "asked" else topic.answerable
    out = answered(topic.reports, [report.pk])
    row = topic.reports.row(report.pk)
    places = [(place, answered(topic.passages, [place.pk])) for place in context or ()]
    asked = SubQuestion.objects.filter(topic=topic.pk, position__in=topic.asked)
    return [
        AnswerItem(
            pk=question.pk,
            number=question.number,
            body=question.body,
            is_out=question.position in out if _is_rated(topic, row, question.position) else None,
            is_relevant=question.position in rel,
            seen_in=None
            if context is None
            else tuple(place for place, answers in places if question.position in answers),
        )
        for question in asked.order_by("position")
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
    positions = sorted(answered(topic.passages, [text]) & topic.asked or topic.asked)
    keys = {question.position: question.pk for question in material.corpus.questions[topic.pk]}
    return keys[positions[0]] if positions else None


def _statements(material: Material, text: Text, report: Report) -> list[StatementItem]:
    body, places = text.body or "", dict.fromkeys(mark.statement for mark in report.marks)
    known = [mark.text for mark in report.marks if mark.text is not None]
    names = dict(zip(known, material.names(known), strict=True))
    return [
        StatementItem(
            body[start:end],
            tuple(
                f"[{mark.label}]" if mark.text is None else names[mark.text]
                for mark in report.marks
                if mark.statement == (start, end)
            ),
        )
        for start, end in places
    ]
