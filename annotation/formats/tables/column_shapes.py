"""Shapes of columns: statistics of the values in the first rows, for guesses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.formats.tables.cells import BrokenCell, Cell
from annotation.formats.tables.lists import is_list
from annotation.formats.tables.source import Table
from annotation.formats.tables.values import CellError, has_comma, is_missing, number_of, text_of
from annotation.formats.tables.word_scales import ordered_levels

SAMPLE_ROWS = 500
EXAMPLES = 3
FEW = 12  # different values of a column of grades
LONG_TEXT = 20  # mean characters of a column of texts
_SENTENCE_END = re.compile("[。！？｡]")  # of texts in Chinese and Japanese, which have no blanks
Sample = Sequence[Mapping[str, Cell]]
"""Cells of the first rows, by header."""


@dataclass(frozen=True)
class Shape:
    """Shape of a column: statistics of its values in the first rows."""

    n: int
    n_missing: int
    n_different: int
    mean_length: float
    share_of_lists: float
    numbers: tuple[float, ...] | None
    """Different numbers, ascending; None where a value is no number."""
    texts: tuple[str, ...]
    """Different texts, at most FEW + 1."""
    has_blanks: bool
    has_sentences: bool
    examples: tuple[str, ...]

    @property
    def is_list(self) -> bool:
        return self.n > 0 and self.share_of_lists >= 0.75

    @property
    def is_text(self) -> bool:
        is_sentence = self.has_blanks or self.has_sentences
        if self.is_scale:
            return False
        return self.mean_length > LONG_TEXT or (is_sentence and self.mean_length > 8)

    @property
    def is_fraction(self) -> bool:
        return self.numbers is not None and any(not number.is_integer() for number in self.numbers)

    @property
    def is_grade(self) -> bool:
        """Few different values, and whole numbers or short words."""
        if self.numbers is not None:
            return not self.is_fraction and (
                self.n_different <= FEW or (self.numbers[0] >= 0 and self.numbers[-1] <= 100)
            )
        is_short = self.mean_length <= LONG_TEXT or self.is_scale
        return 0 < self.n_different <= FEW and is_short

    @property
    def is_scale(self) -> bool:
        """Words of a known scale, which may be long: neither agree nor disagree."""
        is_few = self.numbers is None and 1 < self.n_different <= FEW
        return is_few and ordered_levels(self.texts) is not None

    @property
    def looks_like_id(self) -> bool:
        return not self.has_blanks and self.mean_length <= 64


def shapes_of(table: Table, sample: Sample, missing: Sequence[str] = ()) -> dict[str, Shape]:
    """Return the shape of each column by the first rows."""
    return {
        header: _shape([cells.get(header) for cells in sample], missing) for header in table.headers
    }


def missing_words(table: Table, sample: Sample) -> list[str]:
    """Return texts that stand for missing numbers: the only text in a column of numbers."""
    missing_texts: dict[str, None] = {}
    for header in table.headers:
        cells = [cells.get(header) for cells in sample]
        texts = [cell_text(cell) for cell in cells if not is_missing(cell)]
        labels = {text for text in texts if _numbers([text]) is None}
        n_words = sum(text in labels for text in texts)
        if len(labels) == 1 and n_words * 2 < len(texts):
            missing_texts.update(dict.fromkeys(labels))
    return list(missing_texts)


def _shape(cells: Sequence[Cell], missing: Sequence[str] = ()) -> Shape:
    present = [
        cell for cell in cells if not is_missing(cell, missing) and not isinstance(cell, BrokenCell)
    ]
    texts = [cell_text(cell) for cell in present]
    n_lists = sum(
        isinstance(cell, list) or (isinstance(cell, str) and is_list(cell)) for cell in present
    )
    different = list(dict.fromkeys(texts))
    return Shape(
        n=len(present),
        n_missing=len(cells) - len(present),
        n_different=len(different),
        mean_length=sum(map(len, texts)) / len(texts) if texts else 0.0,
        share_of_lists=n_lists / len(present) if present else 0.0,
        numbers=_numbers(present),
        texts=tuple(different[: FEW + 1]),
        has_blanks=any(" " in text.strip() for text in texts),
        has_sentences=any(map(_SENTENCE_END.search, texts)),
        examples=tuple(text[:80] for text in different[:EXAMPLES]),
    )


def cell_text(cell: Cell) -> str:
    try:
        return text_of(cell).strip()
    except CellError:
        return str(cell)


def _numbers(cells: Sequence[Cell]) -> tuple[float, ...] | None:
    numbers: set[float] = set()
    for cell in cells:
        if (number := _number(cell)) is None:
            return None
        numbers.add(number)
    return tuple(sorted(numbers)) if cells else None


def _number(cell: Cell) -> float | None:
    """Return the number of a cell under either decimal sign, a comma first."""
    for decimal in (",", ".") if isinstance(cell, str) and "," in cell else (".",):
        try:
            return number_of(cell, decimal)
        except CellError:
            continue
    return None


def has_decimal_comma(shape: Shape) -> bool:
    """Return whether a column has numbers such as 0,5; 1,204 may be a thousand."""
    return shape.numbers is not None and any(map(has_comma, shape.texts))


def has_decimal_point(shape: Shape) -> bool:
    """Return whether a column has texts such as 0.5; numbers of a spreadsheet have no sign."""
    return shape.numbers is not None and any(
        re.fullmatch(r"\d+\.\d+\s*%?", label) for label in shape.texts
    )
