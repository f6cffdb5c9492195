"""Highlights: the quotes that a file gives for a grade, located in the text."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from annotation.formats.records import SpanRow
from annotation.models import NuggetSpan
from annotation.plurals import n_of
from annotation.text.spans import ELISION, SpanError, locate_parts, validated_span

Located = NuggetSpan.Located
_OF_A_SPAN = ("start", "end", "quote", "located", "source_quote")


@dataclass(frozen=True, slots=True)
class LocatedSpan:
    """A span to be stored; `file_quote` is the file's quote, where it differs from the text's."""

    start: int | None
    end: int | None
    quote: str
    file_quote: str
    located: NuggetSpan.Located

    def span(self, rating_id: int, position: int) -> NuggetSpan:
        return NuggetSpan(
            rating_id=rating_id,
            position=position,
            start=self.start,
            end=self.end,
            quote=self.quote,
            source_quote=self.file_quote,
            located=self.located,
        )


def locate_highlight(
    body: str | None, quote: str, offsets: Sequence[Sequence[int]] = ()
) -> list[LocatedSpan]:
    """Locate the quote of a highlight: exactly, else with white space joined, else nowhere.

    Parts joined by an elision become several spans. `offsets` resolve an ambiguous quote; SpanError
    if they do not fit. A blank quote has no span.
    """
    if not quote.strip():
        return []
    if offsets and body is not None:
        return _find_at(body, quote, offsets)
    parts = locate_parts(body, quote) if body is not None else None
    if parts is None:
        return [LocatedSpan(None, None, "", quote, Located.UNLOCATED)]
    # The quote of each part: a highlight that is in the text as a whole is one part.
    quotes = quote.split(ELISION) if len(parts) > 1 else [quote]
    return [
        LocatedSpan(
            span.start, span.end, span.quote, "" if exact else part_quote, _located_kind(exact)
        )
        for (span, exact), part_quote in zip(parts, quotes, strict=True)
    ]


def _find_at(body: str, quote: str, offsets: Sequence[Sequence[int]]) -> list[LocatedSpan]:
    quotes = quote.split(ELISION) if len(offsets) > 1 else [quote]
    if len(quotes) != len(offsets):
        raise SpanError(f"{n_of(len(offsets), 'offset')} for words in {n_of(len(quotes), 'part')}")
    spans = []
    for (start, end), part_quote in zip(offsets, quotes, strict=True):
        text_quote = body[max(start, 0) : max(end, 0)]
        expected = text_quote if text_quote.split() == part_quote.split() else part_quote
        span = validated_span(body, start, end, expected)
        exact = part_quote == expected
        spans.append(
            LocatedSpan(start, end, span.quote, "" if exact else part_quote, _located_kind(exact))
        )
    return spans


def _located_kind(exact: bool) -> NuggetSpan.Located:
    return Located.EXACT if exact else Located.NORMALISED


def spans_from_rows(body: str | None, spans: Iterable[SpanRow]) -> list[LocatedSpan]:
    """Return the spans that a file states in full; SpanError if they do not fit the text.

    Nothing is searched: a span that had no position gets none.
    """
    return [_from_row(body, span) for span in spans]


def _from_row(body: str | None, span: SpanRow) -> LocatedSpan:
    if span.start is None or span.end is None or span.located == Located.UNLOCATED:
        if (span.start, span.end) != (None, None):
            raise SpanError("a span that is not located has no position")
        return LocatedSpan(None, None, span.quote, span.source_quote, Located.UNLOCATED)
    if body is None:  # to be located when the text comes
        return LocatedSpan(None, None, "", span.source_quote or span.quote, Located.UNLOCATED)
    checked_span = validated_span(body, span.start, span.end, span.quote)
    located = Located(span.located) if span.located else _located_kind(not span.source_quote)
    return LocatedSpan(
        checked_span.start, checked_span.end, checked_span.quote, span.source_quote, located
    )


def span_row(span: NuggetSpan) -> dict[str, Any]:
    """Return the fields of a span that files state in full."""
    return {name: getattr(span, name) for name in _OF_A_SPAN}


def fields_for_round_trip(
    body: str | None, spans: Sequence[NuggetSpan]
) -> Literal["", "offsets", "spans"]:
    """Return which fields a file must state with a highlight for a lossless round trip.

    "" for a text without a body: its spans are located when that comes.
    """
    quote = joined_quotes(spans)
    if body is None or _is_round_trip(spans, locate_highlight(body, quote)):
        return ""
    offsets = [(span.start, span.end) for span in spans]
    if all(start is not None for start, _ in offsets):
        with suppress(SpanError):
            if _is_round_trip(spans, locate_highlight(body, quote, offsets)):  # type: ignore[arg-type]
                return "offsets"
    return "spans"


def _is_round_trip(spans: Sequence[NuggetSpan], located: Sequence[LocatedSpan]) -> bool:
    return located == [
        LocatedSpan(span.start, span.end, span.quote, span.source_quote, Located(span.located))
        for span in spans
    ]


def located_kind(spans: Iterable[LocatedSpan]) -> str:
    """Return the least certain `located` of a highlight's spans, or "none" without spans."""
    kinds = {span.located for span in spans}
    for kind in (Located.UNLOCATED, Located.NORMALISED, Located.EXACT):
        if kind in kinds:
            return str(kind)
    return "none"


def joined_quotes(spans: Iterable[NuggetSpan]) -> str:
    """Return the quotes of a rating's spans as one string, joined by ELISION."""
    return ELISION.join(span.source_quote or span.quote for span in spans)


def relocate(text_ids: Sequence[int]) -> int:
    """Locate the highlights of texts that have just got a body; return their number."""
    unlocated = NuggetSpan.objects.filter(
        rating__text__in=text_ids, located=Located.UNLOCATED
    ).select_related("rating__text")
    n = 0
    for span in list(unlocated):
        parts = locate_highlight(span.rating.text.body, span.source_quote)
        if parts[0].located == Located.UNLOCATED or span.rating.spans.count() > 1:
            continue
        span.delete()
        NuggetSpan.objects.bulk_create(
            part.span(span.rating_id, position) for position, part in enumerate(parts)
        )
        n += 1
    return n
