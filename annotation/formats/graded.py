"""The grades of one rater, gathered text by text: what each line of a file of labels is made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Q

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.highlights import needed_beside_words, span_row, words_of
from annotation.formats.writing import by_code_point
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Text

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

    def beside_words(self) -> dict[str, Any]:
        """`offsets` and `spans` of a line, for questions whose words alone would give other spans."""
        stated: dict[str, dict[str, Any]] = {}
        for position, spans in self.spans.items():
            needed = needed_beside_words(self.body, spans)
            if needed == "offsets":
                places = [[span.start, span.end] for span in spans]
                stated.setdefault("offsets", {})[str(position)] = places
            elif needed:
                stated.setdefault("spans", {})[str(position)] = [span_row(span) for span in spans]
        return stated


def graded(dataset: Dataset, rater: Rater, rubric: str, texts: Q) -> Iterator[Graded]:
    """The texts that the rater graded, with their spans, by system, topic and name."""
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
