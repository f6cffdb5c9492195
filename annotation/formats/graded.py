"""The grades of one rater, gathered text by text: what each line of a file of labels is made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Q

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.highlights import find, words_of
from annotation.formats.writing import by_code_point
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Text
from annotation.text.spans import ELISION

_TEXTS = 200
_CHUNK = 2000


@dataclass
class Graded:
    """One text with the rater's grades for one topic's questions, by the question's position."""

    topic_id: int
    text_id: int
    name: str
    grades: dict[int, int]
    ratings: dict[int, int]  # keys of the ratings
    body: str | None = None
    spans: dict[int, list[NuggetSpan]] = field(default_factory=dict)

    def words(self, position: int) -> str:
        """The highlight of a question, its spans joined into one string."""
        return words_of(self.spans.get(position, []))

    def offsets(self) -> dict[str, list[list[int | None]]]:
        """Where the spans stand, for questions whose words alone would lead to another place."""
        return {
            str(position): [[span.start, span.end] for span in spans]
            for position, spans in self.spans.items()
            if self.body is not None and _need_offsets(self.body, spans)
        }


def graded(
    dataset: Dataset, rater: Rater, rubric: str, texts: Q, *, with_spans: bool
) -> Iterator[Graded]:
    """The texts that the rater graded, by system, topic and name; spans and words if asked for."""
    keys = Text.objects.filter(texts, dataset=dataset).values("pk")
    rows = (
        Rating.objects.filter(rater=rater, rubric__slug=rubric, text__in=keys)
        .order_by(
            by_code_point("text__system"),
            "question__topic__position",
            by_code_point("question__topic__name"),
            by_code_point("text__name"),
            "question__position",
        )
        .values_list(
            "question__topic_id", "text_id", "text__name", "question__position", "grade", "pk"
        )
        .iterator(chunk_size=_CHUNK)
    )
    graded_texts = (
        Graded(
            topic_id=topic,
            text_id=text,
            name=name,
            grades={position: grade for *_, position, grade, _ in pairs},
            ratings={position: pk for *_, position, _, pk in pairs},
        )
        for (topic, text, name), group in groupby(rows, key=lambda row: row[:3])
        for pairs in [list(group)]
    )
    for batch in batches(graded_texts, _TEXTS):
        if with_spans:
            _add_spans(batch)
        yield from batch


def _add_spans(batch: Sequence[Graded]) -> None:
    places = {pk: (text, position) for text in batch for position, pk in text.ratings.items()}
    for keys in batches(places, LOOK_UP):
        for span in NuggetSpan.objects.filter(rating__in=keys).order_by("rating", "position"):
            text, position = places[span.rating_id]
            text.spans.setdefault(position, []).append(span)
    bodies = Text.objects.filter(pk__in={text.text_id for text in batch if text.spans})
    by_key: dict[int, Any] = dict(bodies.values_list("pk", "body"))
    for text in batch:
        text.body = by_key.get(text.text_id)


def _need_offsets(body: str, spans: Sequence[NuggetSpan]) -> bool:
    """Whether reading the words back would mark another place than these spans do."""
    words = words_of(spans)
    if any(span.located == NuggetSpan.Located.UNLOCATED for span in spans):
        return False
    if len(spans) > 1 and words.count(ELISION) != len(spans) - 1:
        return False  # words that hold an elision themselves cannot be told apart
    again = [(part.start, part.end) for part in find(body, words)]
    return again != [(span.start, span.end) for span in spans]
