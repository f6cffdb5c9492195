"""The sentences of a text that one rater marked and another did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.text.spans import paragraphs, sentences
from evaluation.stats.overlap import Span


@dataclass(frozen=True)
class DividedSentence:
    """A sentence, its number in the text from 1, who marked any of it and who marked nothing there."""

    number: int
    words: str
    by: tuple[str, ...]
    not_by: tuple[str, ...]


def divided_sentences(
    body: str, marks: Mapping[str, Sequence[Span]]
) -> tuple[DividedSentence, ...]:
    """In the order of the text. `marks` has the spans of everybody who answered, none for those
    who marked nothing; a sentence that all of them, or none, marked is not listed."""
    divided = []
    pieces = (piece for edges in paragraphs(body) for piece in sentences(body, *edges))
    for number, (start, end) in enumerate(pieces, start=1):
        by = tuple(
            who
            for who, spans in marks.items()
            if any(first < end and start < last for first, last in spans)
        )
        if by and len(by) < len(marks):
            not_by = tuple(who for who in marks if who not in by)
            divided.append(DividedSentence(number, body[start:end], by, not_by))
    return tuple(divided)
