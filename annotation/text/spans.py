"""Spans of a text: finding a quote, checking it, cutting a text at the edges of spans.

Offsets are Unicode code points, half-open [start, end), as Python counts them. No Django here.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

ELISION = " [...] "  # joins the several spans of one rating in formats that hold one string

# A sentence ends after . ! ? … (and closing quotes or brackets) before white space; ideographic
# full stops need no space. Short forms and initials ("Dr.", "B.J.") do not end one.
# A long row of dots is read once: nothing is tried again from its middle.
_SENTENCE_END = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)|[。！？]+[”’」』]*)")
_SHORT_FORM = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|Rev|Gen|Sen|Rep|Gov|Lt|Col|St|No|vs|approx|e\.g|i\.e|cf)|\b\w)\.$"
)
_LONGEST_SHORT_FORM = len("approx.")
# A line end counts once: \r\n is not a \r and a \n, which would be a blank line.
_LINE_END = r"(?:\r\n|\r(?!\n)|\n)"
# Blank lines alone: what indents the next line is part of it.
_BLANK_LINES = rf"(?:[^\S\r\n]*+{_LINE_END})++"
_PARAGRAPH_END = re.compile(rf"\A{_BLANK_LINES}|{_LINE_END}{_BLANK_LINES}")
_WORDS = re.compile(r"\S+")


@dataclass(frozen=True)
class Span:
    """Words of a text: `body[start:end] == quote`."""

    start: int
    end: int
    quote: str


def gettext_noop(message: str) -> str:
    """Marks a message for translation, as Django's function of this name does."""
    return message


class SpanError(ValueError):
    """A span that does not fit its text; the message can be shown to a person.

    It is made of `pattern` and `values`, so that it can be translated.
    """

    def __init__(self, pattern: str, **values: object) -> None:
        super().__init__(pattern % values if values else pattern)
        self.pattern, self.values = pattern, values


def checked(body: str, start: int, end: int, quote: str) -> Span:
    """The span, once its offsets and its quote agree with the text.

    Raises SpanError for an empty or reversed span, one that reaches beyond the text, one of white
    space alone, and one whose quote is not what stands there (a shifted offset, a changed text).
    """
    if not 0 <= start < end:
        pattern = gettext_noop("a span needs 0 <= start < end, not %(start)s and %(end)s")
        raise SpanError(pattern, start=start, end=end)
    if end > len(body):
        pattern = gettext_noop("a span ends at %(end)s, beyond the text of %(n)s characters")
        raise SpanError(pattern, end=end, n=len(body))
    words = body[start:end]
    if words != quote:
        pattern = gettext_noop("at %(start)s to %(end)s the text says %(words)s, not %(quote)s")
        shown = {"words": repr(words[:60]), "quote": repr(quote[:60])}
        raise SpanError(pattern, start=start, end=end, **shown)
    if not words.strip():
        raise SpanError(gettext_noop("a span of white space alone marks nothing"))
    return Span(start, end, quote)


def in_utf16(body: str, place: int) -> int:
    """The place of a code point in units of UTF-16, as JavaScript counts."""
    return len(body[:place].encode("utf-16-le")) // 2


def from_utf16(body: str, start: int, end: int) -> tuple[int, int] | None:
    """The code points of a place in units of UTF-16; None where it reaches beyond the text, or cuts one."""
    units = body.encode("utf-16-le")
    if not 0 <= start <= end <= len(units) // 2:
        return None
    try:
        before = len(units[: 2 * start].decode("utf-16-le"))
        return before, before + len(units[2 * start : 2 * end].decode("utf-16-le"))
    except UnicodeDecodeError:
        return None


def from_shown(shown: Sequence[int], start: int, end: int) -> tuple[int, int] | None:
    """The code points of a place in what is shown of a text, given where each sign of it is; None beyond it."""
    return (shown[start], shown[end - 1] + 1) if 0 <= start < end <= len(shown) else None


def locate(body: str, quote: str) -> tuple[Span, bool] | None:
    """Where a quote stands in a text, and whether exactly so.

    First as it is, then with every run of white space read as one space; the first place counts.
    None if the text does not hold it, or if the quote has no words.
    """
    if not quote.strip():
        return None
    start = body.find(quote)
    if start >= 0:
        return Span(start, start + len(quote), quote), True
    pattern = r"\s+".join(re.escape(word) for word in quote.split())
    if match := re.search(pattern, body):
        return Span(match.start(), match.end(), match.group()), False
    return None


def locate_parts(body: str, quote: str) -> list[tuple[Span, bool]] | None:
    """The places of a quote that may be several spans joined by ELISION; None if any is missing."""
    if whole := locate(body, quote):
        return [whole]
    if ELISION not in quote:
        return None
    parts = [locate(body, part) for part in quote.split(ELISION)]
    return [part for part in parts if part] if all(parts) else None


def with_edges(pieces: Sequence[tuple[int, int]], edges: Iterable[int]) -> list[tuple[int, int]]:
    """The pieces, cut again at every edge that falls inside one of them."""
    cuts = sorted(set(edges))
    result = []
    for start, end in pieces:
        inner = [cut for cut in cuts if start < cut < end]
        result += list(zip([start, *inner], [*inner, end], strict=True))
    return result


def paragraphs(body: str) -> Iterator[tuple[int, int]]:
    """The paragraphs of a text: [start, end) between blank lines, with what indents their first line."""
    start = 0
    for gap in [*_PARAGRAPH_END.finditer(body), None]:
        end = gap.start() if gap else len(body)
        if body[start:end].strip():
            yield start, end
        start = gap.end() if gap else end


def sentences(body: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of body[start:end], for moving by keyboard; together they hold every word.

    A wrong cut costs a reader one key, so a simple rule does.
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
    words = list(_WORDS.finditer(body, start, end))
    return (words[0].start(), words[-1].end()) if words else None
