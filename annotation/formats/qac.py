"""Export of question-context pairs: for docling-sdg, and to train T5.

A pair is the only sub-question of a topic and a passage of that topic. Pairs with a filtered
question are left out, and counted.
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
    """A question with its context, and their grades by rubric and rater."""

    topic: str
    passage: str
    question: str
    context: str
    answer: str = ""
    grades: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def type_by(self) -> dict[int, str]:
        """Return the type of the question by the key of its rater."""
        return {
            rater: _LABELS[grade]
            for (rubric, rater), grade in self.grades.items()
            if rubric == QUESTION_TYPE
        }


def n_filtered(dataset: Dataset) -> int:
    """Return the number of pairs left out because their question is filtered."""
    return _contexts(dataset).exclude(topic__questions__filtered_because="").count()


def n_pairs(dataset: Dataset) -> int:
    """Return the number of exported pairs."""
    return _contexts(dataset).filter(topic__questions__filtered_because="").count()


def pairs(dataset: Dataset) -> Iterator[Pair]:
    """Yield the pairs by topic and name, read in batches."""
    texts = _contexts(dataset).filter(topic__questions__filtered_because="")
    ordered = texts.order_by("topic__position", by_code_point("topic__name"), by_code_point("name"))
    fields = ("pk", "name", "body", "topic__name", "topic__questions__body")
    source = "topic__questions__source_body"
    gold = raters_of(dataset).get(GOLD)
    for batch in batches(ordered.values_list(*fields, source).iterator(_AT_ONCE), _AT_ONCE):
        by_passage = {
            pk: Pair(topic, name, as_written or question, body)
            for pk, name, body, topic, question, as_written in batch
        }
        _add_grades(by_passage)
        _add_answers(by_passage, gold)
        yield from by_passage.values()


def _contexts(dataset: Dataset) -> QuerySet[Text]:
    """Return the passages with a body of topics that have one question."""
    one = dataset.topics.annotate(n=Count("questions")).filter(n=1).exclude(questions__body="")
    return Text.objects.filter(
        dataset=dataset, kind=Text.Kind.PASSAGE, topic__in=one.order_by().values("pk")
    ).with_body()


def _add_grades(by_passage: dict[int, Pair]) -> None:
    rated = Rating.objects.filter(text__in=by_passage).order_by()
    for text, rubric, rater, grade in rated.values_list("text", "rubric__slug", "rater", "grade"):
        by_passage[text].grades[rubric, rater] = grade


def _add_answers(by_passage: dict[int, Pair], gold: Rater | None) -> None:
    spans = NuggetSpan.objects.filter(
        rating__text__in=by_passage, rating__rubric__slug=ANSWERED, rating__rater=gold
    )
    quotes: dict[int, list[str]] = {}
    for text, quote, source in spans.order_by("rating", "position").values_list(
        "rating__text", "quote", "source_quote"
    ):
        quotes.setdefault(text, []).append(source or quote)
    for text, parts in quotes.items():
        by_passage[text].answer = ELISION.join(parts)


def lines(dataset: Dataset, critic: Rater | None = None) -> Iterator[str]:
    """Yield GenQAC lines, with question types by `requested` and critiques of a rater.

    The rater is `critic` by default.
    """
    raters = raters_of(dataset)
    requested, critic = raters.get(REQUESTED), critic or raters.get(CRITIC)
    names: set[str] = set()
    for pair in pairs(dataset):
        is_first = pair.topic not in names
        names.add(pair.topic)
        label = pair.type_by.get(requested.pk) if requested else None
        critiques = {
            rubric.removeprefix(CRITIQUE): {"evaluation": None, "rating": grade}
            for (rubric, rater), grade in sorted(pair.grades.items())
            if critic and rater == critic.pk and rubric.startswith(CRITIQUE)
        }
        texts = pair.context, pair.question, pair.answer
        name = pair.topic if is_first else ""
        yield json_line(qac_line(texts, ids_of(pair.passage), label, name, critiques=critiques))


def qac_line(
    texts: tuple[str, str, str],
    ids: tuple[str, str],
    label: str | None,
    name: str = "",
    **more: Any,
) -> dict[str, Any]:
    """Return a GenQAC line of a context, a question and an answer.

    `ids` are those of document and chunk. `name` is the pair's own, where it has one.
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
    """Yield a line of input and output for each pair with an answer and a question type.

    The type is that of a rater, by default `requested`. Unanswerable pairs are left out. Source:
    Know Your RAG (de Lima et al., 2024), appendix H.
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
