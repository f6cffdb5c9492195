"""Pairs of a question and its context, written: as docling-sdg reads them, and to train T5 on.

A pair is the one sub-question of a topic and a passage of that topic. Those whose question is filtered are left
out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, QuerySet

from annotation.formats.batches import batches
from annotation.formats.foreign.qac import (
    ANSWERED,
    CRITIC,
    CRITIQUE,
    GOLD,
    QUESTION_TYPE,
    REQUESTED,
    TYPES,
    ids_of,
    qac_id,
)
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Text
from annotation.models.rating import raters_of
from annotation.text.spans import ELISION

_AT_ONCE = 500
_NO_DATE = (
    "1970-01-01T00:00:00+00:00"  # docling-sdg refuses a line without a date, and none is kept
)
_LABELS = {grade: label for label, grade in TYPES.items()}


@dataclass
class Pair:
    """A question with its context, and what raters gave the two: by rubric and rater."""

    topic: str
    passage: str
    question: str
    context: str
    answer: str = ""
    grades: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def type_by(self) -> dict[int, str]:
        """The type of the question by the key of who said it."""
        return {
            rater: _LABELS[grade]
            for (rubric, rater), grade in self.grades.items()
            if rubric == QUESTION_TYPE
        }


def n_filtered(dataset: Dataset) -> int:
    """The pairs that are left out since their question is filtered."""
    return _contexts(dataset).exclude(topic__questions__filtered_because="").count()


def n_pairs(dataset: Dataset) -> int:
    """The pairs that are written."""
    return _contexts(dataset).filter(topic__questions__filtered_because="").count()


def pairs(dataset: Dataset) -> Iterator[Pair]:
    """The pairs in the order of topics and names, some at a time."""
    texts = _contexts(dataset).filter(topic__questions__filtered_because="")
    ordered = texts.order_by("topic__position", by_code_point("topic__name"), by_code_point("name"))
    fields = ("pk", "name", "body", "topic__name", "topic__questions__body")
    source = "topic__questions__source_body"
    gold = raters_of(dataset).get(GOLD)
    for some in batches(ordered.values_list(*fields, source).iterator(_AT_ONCE), _AT_ONCE):
        found = {
            pk: Pair(topic, name, as_written or question, body)
            for pk, name, body, topic, question, as_written in some
        }
        _add_grades(found)
        _add_answers(found, gold)
        yield from found.values()


def _contexts(dataset: Dataset) -> QuerySet[Text]:
    """The passages with words of topics that have one question."""
    one = dataset.topics.annotate(n=Count("questions")).filter(n=1).exclude(questions__body="")
    return Text.objects.filter(
        dataset=dataset, kind=Text.Kind.PASSAGE, topic__in=one.order_by().values("pk")
    ).with_body()


def _add_grades(found: dict[int, Pair]) -> None:
    rated = Rating.objects.filter(text__in=found).order_by()
    for text, rubric, rater, grade in rated.values_list("text", "rubric__slug", "rater", "grade"):
        found[text].grades[rubric, rater] = grade


def _add_answers(found: dict[int, Pair], gold: Rater | None) -> None:
    spans = NuggetSpan.objects.filter(
        rating__text__in=found, rating__rubric__slug=ANSWERED, rating__rater=gold
    )
    words: dict[int, list[str]] = {}
    for text, quote, source in spans.order_by("rating", "position").values_list(
        "rating__text", "quote", "source_quote"
    ):
        words.setdefault(text, []).append(source or quote)
    for text, parts in words.items():
        found[text].answer = ELISION.join(parts)


def lines(dataset: Dataset, critic: Rater | None = None) -> Iterator[str]:
    """GenQAC lines, with the types that `requested` gave and the critiques of a rater, by default `critic`."""
    raters = raters_of(dataset)
    requested, critic = raters.get(REQUESTED), critic or raters.get(CRITIC)
    names: set[str] = set()
    for pair in pairs(dataset):
        own = pair.topic not in names
        names.add(pair.topic)
        label = pair.type_by.get(requested.pk) if requested else None
        critiques = {
            rubric.removeprefix(CRITIQUE): {"evaluation": None, "rating": grade}
            for (rubric, rater), grade in sorted(pair.grades.items())
            if critic and rater == critic.pk and rubric.startswith(CRITIQUE)
        }
        texts = pair.context, pair.question, pair.answer
        name = pair.topic if own else ""
        yield json_line(qac_line(texts, ids_of(pair.passage), label, name, critiques=critiques))


def qac_line(
    texts: tuple[str, str, str],
    ids: tuple[str, str],
    label: str | None,
    name: str = "",
    **more: Any,
) -> dict[str, Any]:
    """A GenQAC line of a context, a question and an answer; `ids` are those of document and chunk.

    `name` is the pair's own, where it has one.
    """
    context, question, answer = texts
    return {
        "context": context,
        "question": question,
        "answer": answer,
        "created": _NO_DATE,
        "paths": [""],
        "doc_id": ids[0],
        "chunk_id": ids[1],
        "qac_id": name or qac_id(question, answer, context),
        **({"labels": {"information": label}} if label else {}),
        **more,
    }


def t5_lines(dataset: Dataset, typist: Rater | None = None) -> Iterator[str]:
    """A line of input and output for each pair with an answer and a type by a rater, by default `requested`.

    Not of the unanswerable: there is nothing to write about them.
    Source: Know Your RAG (de Lima et al., 2024), appendix H.
    """
    typist = typist or raters_of(dataset).get(REQUESTED)
    for pair in pairs(dataset):
        label = pair.type_by.get(typist.pk) if typist else None
        if label and TYPES[label] and pair.answer:
            yield json_line(
                {
                    "input": f"<<{label}>> {pair.context}",
                    "output": f"<<{label}>> {pair.question} <a> {pair.answer}",
                }
            )


PAIRS = {"qac": lines, "t5": t5_lines}
"""What writes each format, of a dataset and perhaps a rater whose ratings are meant."""
