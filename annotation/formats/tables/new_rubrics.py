"""Rubrics for columns of grades: one of the site with the same words, or a new one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.formats.tables.column_shapes import Shape
from annotation.formats.tables.values import Scale, word_key
from annotation.formats.tables.word_scales import ordered_levels

_TOPS = (2, 3, 4, 5, 7, 10, 100)  # highest grades of usual scales
_PAIRS = (
    ("no", "yes"),
    ("false", "true"),
    ("fail", "pass"),
    ("wrong", "right"),
    ("incorrect", "correct"),
    # What spreadsheets and forms in other languages write.
    *(("nein", "ja"), ("falsch", "wahr"), ("falsch", "richtig"), ("nee", "ja"), ("onwaar", "waar")),
    *(("non", "oui"), ("faux", "vrai"), ("no", "sí"), ("no", "si"), ("no", "sì")),
    *(("falso", "verdadero"), ("falso", "vero")),
)
_NUMBERED = re.compile(r"\s*(\d{1,2}|100)\s*[-–—:.=()]+\s*[^\W\d]")  # 5 - full; not 2-3 or 18 to 24
_GRADE = re.compile(r"\d{1,2}|100", re.ASCII)
SECOND_LEVELS = ("other", "another")  # second level where all grades are the same word


@dataclass(frozen=True)
class Proposal:
    """Rubric for columns of grades. `rubric` is None for one that the site has.

    `numbers` are the different grades of the columns, where a new rubric is of numbers.
    """

    slug: str
    rubric: dict[str, Any] | None = None
    numbers: Sequence[int] = ()

    @property
    def asks_scale(self) -> bool:
        """Return whether a person must confirm the scale and eta."""
        return bool(self.numbers) and not set(self.numbers) <= {0, 1}


def rubric_for(
    group: Sequence[str],
    file_stem: str,
    shapes: Mapping[str, Shape],
    rubrics: Mapping[str, Scale],
    proposed: Mapping[str, object],
) -> Proposal:
    """Return the rubric of columns with the same grades: one of the site, or a new one.

    A new one is called like the only column, else like the file, and not like one of `proposed`.
    """
    base = group[0] if len(group) == 1 else file_stem
    slug = re.sub(r"[^a-z0-9]+", "-", base.casefold()).strip("-") or "grade"
    if slug in rubrics and _fits(rubrics[slug], [shapes[header] for header in group]):
        return Proposal(slug)  # a second import makes no second rubric
    while slug in rubrics or slug in proposed:
        slug = _next_slug(slug)
    if all(shapes[header].numbers is not None for header in group):
        numbers = sorted({int(n) for header in group for n in shapes[header].numbers or ()})
        return Proposal(slug, _numeric_rubric(numbers), numbers)
    texts = {word_key(text): text for header in group for text in shapes[header].texts}
    if stored := _known_rubric(texts, rubrics):
        return Proposal(stored)
    return Proposal(slug, words_rubric(list(texts.values())))


def _fits(scale: Scale, shapes: Sequence[Shape]) -> bool:
    """Return whether all values are 0 and 1, as those of the rubric, or words of its levels."""
    if all(shape.numbers is not None for shape in shapes):
        numbers = {number for shape in shapes for number in shape.numbers or ()}
        return scale.grades == (0, 1) and numbers <= {0, 1}
    return all({*map(word_key, shape.texts)} <= {*scale.names} for shape in shapes)


def _next_slug(slug: str) -> str:
    match = re.fullmatch(r"(.*)-(\d+)", slug)
    return f"{match[1]}-{int(match[2]) + 1}" if match else f"{slug}-2"


def _known_rubric(labels: Iterable[str], rubrics: Mapping[str, Scale]) -> str:
    """Return the rubric of the site that has all these words, other than numbers; "" for none."""
    keys = {*labels}
    if len(keys) < 2:
        return ""
    return next((slug for slug, scale in sorted(rubrics.items()) if keys <= {*scale.names}), "")


def _numeric_rubric(numbers: Sequence[int]) -> dict[str, Any]:
    """Return a rubric over the likely scale of the numbers; 0 and 1 alone have eta 1."""
    if set(numbers) <= {0, 1}:
        return {"scale": "ordinal", "levels": [0, 1], "eta": 1}
    low, high = scales_of(numbers)[0]
    return {"scale": "ordinal", "levels": list(range(low, high + 1))}


def scales_of(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the possible scales of numbers, the likeliest first: 1-5 and 0-5 for 2 to 5."""
    low, high = numbers[0], numbers[-1]
    top = next((top for top in _TOPS if high <= top), high)
    start = min(0 if low == 0 else 1, low)
    wider = [(start, 5), (0, 5)] if 2 < top < 5 else []
    candidates = [(start, top), (0, top), *wider, (low, high)]
    return [scale for scale in dict.fromkeys(candidates) if scale[0] < scale[1]]


def nominal_levels(labels: Iterable[str]) -> dict[str, int]:
    """Return levels of words by alphabet, from 0; a single word gets a second level.

    Words that are compared as one (`word_key`) are one level, under the first of them.
    """
    levels: dict[str, str] = {}
    for label in sorted({label.strip() for label in labels}):
        levels.setdefault(word_key(label), label)
    if len(levels) == 1:
        label = next(label for label in SECOND_LEVELS if label not in levels)
        levels[label] = label
    return {label: number for number, label in enumerate(levels.values())}


def numbered_rubric(labels: Iterable[str]) -> dict[str, Any] | None:
    """Return the rubric of labels that are or begin with different numbers, or None."""
    keys = {word_key(label): label for label in labels}
    if len(keys) > 1 and all(_GRADE.fullmatch(label) for label in keys.values()):
        return _numeric_rubric(sorted(map(int, keys.values())))
    numbered = {label: match[1] for label in keys.values() if (match := _NUMBERED.match(label))}
    if (
        len(keys) != len(numbered)
        or len({*map(int, numbered.values())}) != len(keys)
        or len(keys) < 2
    ):
        return None
    levels = sorted((int(number), label) for label, number in numbered.items())
    return {"scale": "ordinal", "levels": {label: number for number, label in levels}}


def words_rubric(labels: Sequence[str]) -> dict[str, Any]:
    """Return a rubric of words: ordinal if their order is known, else nominal by alphabet.

    Words that each begin with a number of their own, such as `5 - full`, have these numbers as grades.
    """
    keys = {word_key(label): label for label in labels}
    if rubric := numbered_rubric(keys.values()):
        return rubric
    for pair in _PAIRS:
        if {*keys} <= {word_key(label) for label in pair}:
            return {
                "scale": "ordinal",
                "levels": {keys.get(word_key(label), label): n for n, label in enumerate(pair)},
                "eta": 1,
            }
    if levels := ordered_levels(keys.values()):
        return {"scale": "ordinal", "levels": levels}
    return {"scale": "nominal", "levels": nominal_levels(labels)}
