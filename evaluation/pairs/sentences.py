"""Sentences of a text that one rater marked and another did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.text.spans import paragraphs, sentences
from evaluation.stats.overlap import Span


@dataclass(frozen=True)
class DividedSentence:
    """Sentence with its number from 1, the raters who marked any of it, and those who did not."""

    number: int
    words: str
    by: tuple[str, ...]
    not_by: tuple[str, ...]


def divided_sentences(
    body: str, marks: Mapping[str, Sequence[Span]]
) -> tuple[DividedSentence, ...]:
    """Return the sentences that some raters marked and others did not, in order.

    `marks` has the spans of all raters who answered, none for those who marked nothing.
    """
    divided = []
    pieces = (piece for edges in paragraphs(body) for piece in sentences(body, *edges))
    for number, (start, end) in enumerate(pieces, start=1):
        by = tuple(
            rater
            for rater, spans in marks.items()
            if any(first < end and start < last for first, last in spans)
        )
        if by and len(by) < len(marks):
            not_by = tuple(rater for rater in marks if rater not in by)
            divided.append(DividedSentence(number, body[start:end], by, not_by))
    return tuple(divided)
