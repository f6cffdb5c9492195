"""A report's citations: "[2]", "[1, 3]", "[2][5]", "[Passage 3]" and names of passages in square brackets.

They are taken out of the text, and each sentence keeps the labels of its own as they were written.
Nothing is dropped and nothing put right: a label that no passage has stays, for a person to see. Words
in round brackets, years ("[1998]") and other words in square ones stay in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from building.writing import sentences
from building.writing.products import Statement

_BRACKETS = re.compile(r"\[([^\[\]\n]{1,400})\]")
_BETWEEN = re.compile(r"[^\S\n]*+[,;]?[^\S\n]*+")
_SPACES = re.compile(r"[^\S\n]*")
_AND = re.compile(r"\s*(?:[,;&]|\band\b)\s*")
_KIND = r"(?:passages?|contexts?|documents?|docs?|sources?|texts?|references?|refs?|citations?)"
_LABEL = re.compile(rf"\^?(?:{_KIND}\W?\s*)?#?(\d{{1,3}})", re.IGNORECASE)
_RANGE = re.compile(rf"(?:{_KIND}\s*)?(\d{{1,3}})\s*[-–]\s*(\d{{1,3}})", re.IGNORECASE)
_LONGEST_RANGE = 20


@dataclass(frozen=True)
class Cited:
    """A report without its marks, and all its sentences in order, those that cite nothing too."""

    body: str
    statements: tuple[Statement, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for statement in self.statements for label in statement.labels)

    def until(self, end: int) -> Cited:
        """The same up to an end of one of its sentences."""
        kept = tuple(statement for statement in self.statements if statement.end <= end)
        return Cited(self.body[:end], kept)


@dataclass
class _Mark:
    """Brackets that follow each other, text[start:end] with the space before them."""

    start: int
    end: int
    labels: tuple[str, ...]


def cited(reply: str, names: Collection[str] = ()) -> Cited:
    """The report in a reply; `names` are those of the passages that it may cite by name.

    A mark belongs to the sentence before it, also where it follows its full stop; at the beginning of a
    line to the sentence behind it. A range "[1-3]" is three labels. Marks without any sentence are lost.
    """
    text = sentences.with_line_ends(reply)
    kept: list[str] = []
    places: list[
        tuple[int, bool, tuple[str, ...]]
    ] = []  # in the body, whether of what follows, labels
    length = read = 0
    for mark in _marks(text, {name.casefold() for name in names}):
        begins_line = mark.start == 0 or text[mark.start - 1] == "\n"
        ends_line = mark.end == len(text) or text[mark.end] == "\n"
        words = text[read : mark.start]
        if mark.start and not begins_line and not ends_line and text[mark.end].isalnum():
            words += " "  # "first.[1]Second" are two sentences
        kept.append(words)
        length += len(words)
        places.append((length, begins_line and not ends_line, mark.labels))
        read = mark.end
        if begins_line and (after := _SPACES.match(text, read)):
            read = after.end()
    body = "".join([*kept, text[read:]])
    return _with_statements(body, places)


def _with_statements(body: str, places: Sequence[tuple[int, bool, tuple[str, ...]]]) -> Cited:
    stripped = body.strip()
    lead = len(body) - len(body.lstrip())
    spans = sentences.spans(stripped)
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    of_each: list[list[str]] = [[] for _ in spans]
    for place, is_of_next, labels in places:
        at = place - lead
        # The first that ends behind the mark, or the last that begins before it.
        nearest = bisect_right(ends, at) if is_of_next else bisect_left(starts, at) - 1
        if spans:
            of_each[min(max(nearest, 0), len(spans) - 1)] += labels
    statements = [
        Statement(start, end, tuple(dict.fromkeys(labels)))
        for (start, end), labels in zip(spans, of_each, strict=True)
    ]
    return Cited(stripped, tuple(statements))


def place_of(label: str, names: Sequence[str]) -> int | None:
    """The place (from 0) of the passage that a label means, by number from 1 or by name; None for none.

    A number that a passage has in the prompt is that passage, though another may be called so.
    """
    number = _LABEL.fullmatch(label)
    place = int(number[1]) - 1 if number else -1
    if 0 <= place < len(names):
        return place
    small = label.casefold()
    return next((place for place, name in enumerate(names) if name.casefold() == small), None)


def _marks(text: str, names: Collection[str]) -> list[_Mark]:
    marks: list[_Mark] = []
    for brackets in _BRACKETS.finditer(text):
        labels = _labels(brackets[1].strip(), names)
        if not labels:
            continue
        if marks and _BETWEEN.fullmatch(text, marks[-1].end, brackets.start()):
            marks[-1].end = brackets.end()
            marks[-1].labels += labels
            continue
        start = brackets.start()
        while start and text[start - 1] != "\n" and text[start - 1].isspace():
            start -= 1
        marks.append(_Mark(start, brackets.end(), labels))
    return marks


def _labels(inside: str, names: Collection[str]) -> tuple[str, ...]:
    """The labels between two brackets; none where anything else is there."""
    if inside.casefold() in names:
        return (inside,)
    labels: list[str] = []
    for part in _AND.split(inside):
        if from_to := _RANGE.fullmatch(part):
            first, last = int(from_to[1]), int(from_to[2])
            if not first < last <= first + _LONGEST_RANGE:
                return ()
            labels += map(str, range(first, last + 1))
        elif _LABEL.fullmatch(part) or part.casefold() in names:
            labels.append(part)
        else:
            return ()
    return tuple(labels)
