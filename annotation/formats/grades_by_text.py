"""Grades of one rater grouped by text: the content of each line of a file of labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Q

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.highlights import fields_for_round_trip, joined_quotes, span_row
from annotation.formats.writing import by_code_point
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Text

_TEXTS = 200
_CHUNK = 2000


@dataclass
class TextGrades:
    """A text with the rater's grades for a topic's questions, by the question's position."""

    topic_id: int
    text_id: int
    name: str
    grades: dict[int, int]
    ratings: dict[int, int]  # keys of the ratings
    body: str | None = None
    spans: dict[int, list[NuggetSpan]] = field(default_factory=dict)

    def quote(self, position: int) -> str:
        """Return the highlight of a question, its spans joined into one string."""
        return joined_quotes(self.spans.get(position, []))

    def span_fields(self) -> dict[str, Any]:
        """Return `offsets` and `spans` of a line, for questions whose quotes are not enough."""
        fields: dict[str, dict[str, Any]] = {}
        for position, spans in self.spans.items():
            needed = fields_for_round_trip(self.body, spans)
            if needed == "offsets":
                offsets = [[span.start, span.end] for span in spans]
                fields.setdefault("offsets", {})[str(position)] = offsets
            elif needed:
                fields.setdefault("spans", {})[str(position)] = [span_row(span) for span in spans]
        return fields


def grades_by_text(dataset: Dataset, rater: Rater, rubric: str, texts: Q) -> Iterator[TextGrades]:
    """Yield the texts that the rater graded, with their spans, by system, topic and name."""
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
        TextGrades(
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


def _add_spans(batch: Sequence[TextGrades]) -> None:
    by_rating = {pk: (text, position) for text in batch for position, pk in text.ratings.items()}
    for keys in batches(by_rating, LOOK_UP):
        for span in NuggetSpan.objects.filter(rating__in=keys).order_by("rating", "position"):
            text, position = by_rating[span.rating_id]
            text.spans.setdefault(position, []).append(span)
    bodies = Text.objects.filter(pk__in={text.text_id for text in batch if text.spans})
    by_key: dict[int, Any] = dict(bodies.values_list("pk", "body"))
    for text in batch:
        text.body = by_key.get(text.text_id)
