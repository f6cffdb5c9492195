"""Spans of a text: locating and validating a quote, splitting a text at span edges.

Offsets are Unicode code points, half-open [start, end), as Python counts them. No Django here.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

ELISION = " [...] "  # joins the several spans of one rating in formats that hold one string

# A sentence ends after . ! ? … (and closing quotes or brackets) before white space; ideographic
# full stops need no space. Short forms and initials ("Dr.", "B.J.") do not end one.
# Possessive quantifiers: a long row of dots is scanned once, without backtracking.
_SENTENCE_END = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)|[。！？]+[”’」』]*)")
_SHORT_FORM = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|Rev|Gen|Sen|Rep|Gov|Lt|Col|St|No|vs|approx|e\.g|i\.e|cf)|\b\w)\.$"
)
_LONGEST_SHORT_FORM = len("approx.")
# A line end counts once: \r\n is not a \r and a \n, which would be a blank line.
_LINE_END = r"(?:\r\n|\r(?!\n)|\n)"
# Only blank lines: the indent of the next line belongs to it.
_BLANK_LINES = rf"(?>(?:[^\S\r\n]*+{_LINE_END})+)"
_PARAGRAPH_END = re.compile(rf"\A{_BLANK_LINES}|{_LINE_END}{_BLANK_LINES}")
_TOKENS = re.compile(r"\S+")


@dataclass(frozen=True)
class Span:
    """A span of a text: `body[start:end] == quote`."""

    start: int
    end: int
    quote: str


def gettext_noop(message: str) -> str:
    """Mark a message for translation, like Django's function of this name."""
    return message


class SpanError(ValueError):
    """Invalid span; the message can be shown to a person.

    `pattern` and `values` allow its translation.
    """

    def __init__(self, pattern: str, **values: object) -> None:
        super().__init__(pattern % values if values else pattern)
        self.pattern, self.values = pattern, values


def validated_span(body: str, start: int, end: int, quote: str) -> Span:
    """Return the span if its offsets and quote match the text.

    Raises SpanError for an empty or reversed span, one that reaches beyond the text, one of white
    space alone, and one whose quote differs from the text at its offsets (a shifted offset, a
    changed text).
    """
    if not 0 <= start < end:
        pattern = gettext_noop("a span needs 0 <= start < end, not %(start)s and %(end)s")
        raise SpanError(pattern, start=start, end=end)
    if end > len(body):
        pattern = gettext_noop("a span ends at %(end)s, beyond the text of %(n)s characters")
        raise SpanError(pattern, end=end, n=len(body))
    found_quote = body[start:end]
    if found_quote != quote:
        pattern = gettext_noop("at %(start)s to %(end)s the text says %(words)s, not %(quote)s")
        excerpts = {"words": repr(found_quote[:60]), "quote": repr(quote[:60])}
        raise SpanError(pattern, start=start, end=end, **excerpts)
    if not found_quote.strip():
        raise SpanError(gettext_noop("a span of white space alone marks nothing"))
    return Span(start, end, quote)


def to_utf16(body: str, offset: int) -> int:
    """Return the offset of a code point in UTF-16 code units, as JavaScript counts."""
    return len(body[:offset].encode("utf-16-le")) // 2


def from_utf16(body: str, start: int, end: int) -> tuple[int, int] | None:
    """Convert UTF-16 offsets to code points.

    None where they reach beyond the text, or cut a surrogate pair.
    """
    units = body.encode("utf-16-le")
    if not 0 <= start <= end <= len(units) // 2:
        return None
    try:
        before = len(units[: 2 * start].decode("utf-16-le"))
        return before, before + len(units[2 * start : 2 * end].decode("utf-16-le"))
    except UnicodeDecodeError:
        return None


def from_displayed(offsets: Sequence[int], start: int, end: int) -> tuple[int, int] | None:
    """Convert offsets in a rendered text to code points of its body; None if out of range.

    `offsets` holds the code point of each rendered character.
    """
    return (offsets[start], offsets[end - 1] + 1) if 0 <= start < end <= len(offsets) else None


def locate(body: str, quote: str) -> tuple[Span, bool] | None:
    """Return the first span of a quote in a text, and whether it matches exactly.

    If there is no exact match, every run of white space matches any other. None if the text does
    not contain the quote, or if the quote is blank.
    """
    if not quote.strip():
        return None
    start = body.find(quote)
    if start >= 0:
        return Span(start, start + len(quote), quote), True
    if match := re.search(_any_white_space(quote), body):
        return Span(match.start(), match.end(), match.group()), False
    return None


def occurrences(body: str, quote: str) -> list[Span]:
    """Return all spans of a quote in a text, with white space as for `locate`."""
    if not quote.strip():
        return []
    pattern = re.escape(quote) if quote in body else _any_white_space(quote)
    matches = re.finditer(pattern, body)
    return [Span(match.start(), match.end(), match.group()) for match in matches]


def _any_white_space(quote: str) -> str:
    """Return a pattern of a quote in which every run of white space matches any other."""
    return r"\s+".join(re.escape(token) for token in quote.split())


def locate_parts(body: str, quote: str) -> list[tuple[Span, bool]] | None:
    """Return the spans of a quote, also of parts joined by ELISION; None if one is missing."""
    if whole := locate(body, quote):
        return [whole]
    if ELISION not in quote:
        return None
    parts = [locate(body, part) for part in quote.split(ELISION)]
    return [part for part in parts if part] if all(parts) else None


def with_edges(pieces: Sequence[tuple[int, int]], edges: Iterable[int]) -> list[tuple[int, int]]:
    """Split the pieces at every edge inside one of them."""
    cuts = sorted(set(edges))
    result = []
    for start, end in pieces:
        inner = [cut for cut in cuts if start < cut < end]
        result += list(zip([start, *inner], [*inner, end], strict=True))
    return result


def paragraphs(body: str) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs of a text: [start, end) between blank lines, with their indent."""
    start = 0
    for gap in [*_PARAGRAPH_END.finditer(body), None]:
        end = gap.start() if gap else len(body)
        if body[start:end].strip():
            yield start, end
        start = gap.end() if gap else end


def sentences(body: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the sentences of body[start:end], for keyboard navigation.

    Together they contain every word. A wrong boundary costs a reader one key press, so a simple
    rule suffices.
    """
    pieces = []
    begin = start
    for stop in _SENTENCE_END.finditer(body, start, end):
        near = max(begin, stop.end() - _LONGEST_SHORT_FORM)
        if stop.group() == "." and _SHORT_FORM.search(body, near, stop.end()):
            continue
        pieces.append((begin, stop.end()))
        begin = stop.end()
    pieces.append((begin, end))
    return [trimmed for piece in pieces if (trimmed := _trimmed(body, *piece))]


def _trimmed(body: str, start: int, end: int) -> tuple[int, int] | None:
    tokens = list(_TOKENS.finditer(body, start, end))
    return (tokens[0].start(), tokens[-1].end()) if tokens else None
