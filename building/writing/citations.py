"""Citation marks in reports: "[2]", "[1, 3]", "[2][5]", "[Passage 3]", or names.

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
from building.writing.outputs import Statement

_BRACKETS = re.compile(r"\[([^\[\]\n]{1,400})\]")
_BETWEEN = re.compile(r"[^\S\n]*+[,;]?[^\S\n]*+")
_SPACES = re.compile(r"[^\S\n]*")
_AND = re.compile(r"\s*(?:[,;&]|\band\b)\s*")
_KIND = r"(?:passages?|contexts?|documents?|docs?|sources?|texts?|references?|refs?|citations?)"
_LABEL = re.compile(rf"\^?(?:{_KIND}\W?\s*)?#?(\d{{1,3}})", re.IGNORECASE)
_RANGE = re.compile(rf"(?:{_KIND}\s*)?(\d{{1,3}})\s*[-–]\s*(\d{{1,3}})", re.IGNORECASE)
_LONGEST_RANGE = 20


@dataclass(frozen=True)
class CitedReport:
    """A report without its marks, and all its sentences in order, citing or not."""

    body: str
    statements: tuple[Statement, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for statement in self.statements for label in statement.labels)

    def until(self, end: int) -> CitedReport:
        """Truncate the report at the end of one of its sentences."""
        statements = tuple(statement for statement in self.statements if statement.end <= end)
        return CitedReport(self.body[:end], statements)


@dataclass
class _Mark:
    """Brackets that follow each other, text[start:end] with the space before them."""

    start: int
    end: int
    labels: tuple[str, ...]


def parse_citations(reply: str, names: Collection[str] = ()) -> CitedReport:
    """Parse a reply into a report and its citations; `names` are citable passage names.

    A mark belongs to the sentence before it, also where it follows its full stop; at the beginning of a
    line to the sentence behind it. A range "[1-3]" is three labels. Marks without any sentence are lost.
    """
    text = sentences.with_line_ends(reply)
    pieces: list[str] = []
    offsets: list[
        tuple[int, bool, tuple[str, ...]]
    ] = []  # offset in the body, belongs to the next sentence, labels
    length = read = 0
    for mark in _marks(text, {name.casefold() for name in names}):
        begins_line = mark.start == 0 or text[mark.start - 1] == "\n"
        ends_line = mark.end == len(text) or text[mark.end] == "\n"
        piece = text[read : mark.start]
        if mark.start and not begins_line and not ends_line and text[mark.end].isalnum():
            piece += " "  # "first.[1]Second" are two sentences
        pieces.append(piece)
        length += len(piece)
        offsets.append((length, begins_line and not ends_line, mark.labels))
        read = mark.end
        if begins_line and (space := _SPACES.match(text, read)):
            read = space.end()
    body = "".join([*pieces, text[read:]])
    return _with_statements(body, offsets)


def _with_statements(
    body: str, offsets: Sequence[tuple[int, bool, tuple[str, ...]]]
) -> CitedReport:
    stripped = body.strip()
    lead = len(body) - len(body.lstrip())
    spans = sentences.spans(stripped)
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    labels_by_sentence: list[list[str]] = [[] for _ in spans]
    for offset, is_of_next, labels in offsets:
        at = offset - lead
        # The first sentence that ends after the mark, or the last that begins before it.
        nearest = bisect_right(ends, at) if is_of_next else bisect_left(starts, at) - 1
        if spans:
            labels_by_sentence[min(max(nearest, 0), len(spans) - 1)] += labels
    statements = [
        Statement(start, end, tuple(dict.fromkeys(labels)))
        for (start, end), labels in zip(spans, labels_by_sentence, strict=True)
    ]
    return CitedReport(stripped, tuple(statements))


def passage_index(label: str, names: Sequence[str]) -> int | None:
    """Return the index of the passage that a label refers to, or None.

    A label is a number from 1, or a name.

    A number that a passage has in the prompt is that passage, though another may be called so.
    """
    number = _LABEL.fullmatch(label)
    index = int(number[1]) - 1 if number else -1
    if 0 <= index < len(names):
        return index
    folded = label.casefold()
    return next((index for index, name in enumerate(names) if name.casefold() == folded), None)


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
    """Parse the labels between two brackets; empty if there is anything else."""
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
