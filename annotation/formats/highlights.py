"""Highlights: the words that a file gives for a grade, and where they stand in the text."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from annotation.formats.records import SpanRow
from annotation.models import NuggetSpan
from annotation.text.spans import ELISION, SpanError, checked, locate_parts

Located = NuggetSpan.Located
_OF_A_SPAN = ("start", "end", "quote", "located", "source_quote")


@dataclass(frozen=True, slots=True)
class Found:
    """A span as it will be stored; `words` are the file's, where they differ from the text's."""

    start: int | None
    end: int | None
    quote: str
    words: str
    located: NuggetSpan.Located

    def span(self, rating_id: int, position: int) -> NuggetSpan:
        return NuggetSpan(
            rating_id=rating_id,
            position=position,
            start=self.start,
            end=self.end,
            quote=self.quote,
            source_quote=self.words,
            located=self.located,
        )


def find(body: str | None, words: str, offsets: Sequence[Sequence[int]] = ()) -> list[Found]:
    """Where the words of a highlight stand: exactly, else with white space joined, else nowhere.

    Several spans joined by an elision come back as several. `offsets` say which place is meant
    where the words alone would not tell; SpanError if they do not fit. No words: no span.
    """
    if not words.strip():
        return []
    if offsets and body is not None:
        return _at(body, words, offsets)
    parts = locate_parts(body, words) if body is not None else None
    if parts is None:
        return [Found(None, None, "", words, Located.UNLOCATED)]
    # The words of each part: a highlight that is in the text as a whole is one part.
    wordings = words.split(ELISION) if len(parts) > 1 else [words]
    return [
        Found(span.start, span.end, span.quote, "" if exact else wording, _located(exact))
        for (span, exact), wording in zip(parts, wordings, strict=True)
    ]


def _at(body: str, words: str, offsets: Sequence[Sequence[int]]) -> list[Found]:
    wordings = words.split(ELISION) if len(offsets) > 1 else [words]
    if len(wordings) != len(offsets):
        raise SpanError(f"{len(offsets)} offsets for words in {len(wordings)} parts")
    spans = []
    for (start, end), wording in zip(offsets, wordings, strict=True):
        there = body[max(start, 0) : max(end, 0)]
        quote = there if there.split() == wording.split() else wording
        span = checked(body, start, end, quote)
        exact = wording == quote
        spans.append(Found(start, end, span.quote, "" if exact else wording, _located(exact)))
    return spans


def _located(exact: bool) -> NuggetSpan.Located:
    return Located.EXACT if exact else Located.NORMALISED


def as_stated(body: str | None, spans: Iterable[SpanRow]) -> list[Found]:
    """Spans as a file states them in full; SpanError if they do not fit the text.

    Nothing is looked for: a span that had no position gets none.
    """
    return [_stated(body, span) for span in spans]


def _stated(body: str | None, span: SpanRow) -> Found:
    if span.start is None or span.end is None or span.located == Located.UNLOCATED:
        if (span.start, span.end) != (None, None):
            raise SpanError("a span that is not located has no position")
        return Found(None, None, span.quote, span.source_quote, Located.UNLOCATED)
    if body is None:  # to be located when the text comes
        return Found(None, None, "", span.source_quote or span.quote, Located.UNLOCATED)
    there = checked(body, span.start, span.end, span.quote)
    located = Located(span.located) if span.located else _located(not span.source_quote)
    return Found(there.start, there.end, there.quote, span.source_quote, located)


def span_row(span: NuggetSpan) -> dict[str, Any]:
    """A span as files state it in full."""
    return {name: getattr(span, name) for name in _OF_A_SPAN}


def needed_beside_words(
    body: str | None, spans: Sequence[NuggetSpan]
) -> Literal["", "offsets", "spans"]:
    """Return the spans that a file must state beside a highlight, so that reading it gives these.

    Nothing for a text without words: spans are located when these come.
    """
    words = words_of(spans)
    if body is None or _are(spans, find(body, words)):
        return ""
    places = [(span.start, span.end) for span in spans]
    if all(start is not None for start, _ in places):
        with suppress(SpanError):
            if _are(spans, find(body, words, places)):  # type: ignore[arg-type]
                return "offsets"
    return "spans"


def _are(spans: Sequence[NuggetSpan], found: Sequence[Found]) -> bool:
    return found == [
        Found(each.start, each.end, each.quote, each.source_quote, Located(each.located))
        for each in spans
    ]


def how(spans: Iterable[Found]) -> str:
    """How a highlight as a whole was located: as its least certain part. "none" without words."""
    kinds = {span.located for span in spans}
    for kind in (Located.UNLOCATED, Located.NORMALISED, Located.EXACT):
        if kind in kinds:
            return str(kind)
    return "none"


def words_of(spans: Iterable[NuggetSpan]) -> str:
    """The spans of a rating as formats hold them that have room for one string."""
    return ELISION.join(span.source_quote or span.quote for span in spans)


def relocate(text_ids: Sequence[int]) -> int:
    """Find the highlights of texts whose words have come at last; how many were found."""
    lost = NuggetSpan.objects.filter(
        rating__text__in=text_ids, located=Located.UNLOCATED
    ).select_related("rating__text")
    n = 0
    for span in list(lost):
        parts = find(span.rating.text.body, span.source_quote)
        if parts[0].located == Located.UNLOCATED or span.rating.spans.count() > 1:
            continue
        span.delete()
        NuggetSpan.objects.bulk_create(
            part.span(span.rating_id, position) for position, part in enumerate(parts)
        )
        n += 1
    return n
