"""Whole numbers of many rows, read as one string for each group and parsed by numpy.

To make Python objects of a million rows takes ten times as long as the database needs to read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from django.db.models import Aggregate, BigIntegerField, DateTimeField, F, Max, TextField, Value
from django.db.models.expressions import Combinable, ExpressionWrapper
from django.db.models.functions import Coalesce

from annotation.models.rating import RatingQuerySet
from evaluation.stats.estimate import IntArray

Columns = dict[str, IntArray]
"""Ratings as arrays: keys of `rater`, `rubric`, `text`, `question`, then `grade` and `read_text`."""
_COLUMNS = ("rater", "rubric", "text", "question", "grade", "read_text")

NOT_COPIED = 0  # keys begin with 1; a digit, because the list has one for each rating
_KEY_BITS = 31
# Text and question are one number, as each list takes the database a tenth of the time of reading.
_PAIR = F("text_id") * 2**_KEY_BITS + F("question_id")
FIELDS: dict[str, str | Combinable] = {
    "pair": ExpressionWrapper(_PAIR, BigIntegerField()),
    "grade": "grade",
    "read_text": Coalesce("copied_from_id", NOT_COPIED),
}


class NumberList(Aggregate):
    """Whole numbers of a group, separated by commas. All lists of a query are in one order."""

    function = "string_agg"
    template = "%(function)s((%(expressions)s)::text, ',')"
    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="group_concat(%(expressions)s)", **context
        )


def parse_numbers(text: str) -> IntArray:
    return np.fromstring(text, np.int64, sep=",")


@dataclass(frozen=True)
class RatingLists:
    """Ratings of one rater under one rubric.

    Arrays by the name of their field: those of Columns, without `rater` and `rubric`.
    """

    rater: int
    rubric: int
    newest: datetime | None
    """Time of the newest of them; None if it was not requested."""
    columns: Columns


def rating_lists(
    ratings: RatingQuerySet, names: Sequence[str] = tuple(FIELDS), *, with_newest: bool = False
) -> Iterator[RatingLists]:
    """Yield the ratings of a query by rater and rubric, in no order: one query.

    `names` are those of FIELDS, `pair` among them, which gives `text` and `question`. Only what is named is
    read. `read_text` is another text than `text` where the grade was copied from that of equal words. Raises
    OverflowError for a question whose key has more than 31 bits; keys of texts must have no more.
    """
    groups = ratings.order_by().values_list("rater_id", "rubric_id")
    newest = Max("created") if with_newest else Value(None, DateTimeField())
    lists = {f"{name}_list": NumberList(FIELDS[name]) for name in names}
    groups = groups.annotate(newest=newest, last_question=Max("question_id"), **lists)
    rows: Iterator[tuple[Any, ...]] = groups.iterator(chunk_size=10)
    for rater, rubric, created, last_question, *texts in rows:
        check_key(last_question)
        columns = dict(zip(names, map(parse_numbers, texts), strict=True))
        columns["text"], columns["question"] = split_pairs(columns.pop("pair"))
        if "read_text" in columns:
            is_copy = columns["read_text"] != NOT_COPIED
            columns["read_text"] = np.where(is_copy, columns["read_text"], columns["text"])
        yield RatingLists(rater, rubric, created, columns)


def join_lists(groups: Iterable[RatingLists]) -> Columns:
    """Return the ratings of all groups, which have all FIELDS, as one array for each field."""
    parts: dict[str, list[IntArray]] = {name: [] for name in _COLUMNS}
    for group in groups:
        for name, numbers in group.columns.items():
            parts[name].append(numbers)
        n = len(group.columns["text"])
        parts["rater"].append(np.full(n, group.rater))
        parts["rubric"].append(np.full(n, group.rubric))
    none = np.zeros(0, np.int64)
    return {name: np.concatenate([none, *arrays]) for name, arrays in parts.items()}


def rating_columns(*queries: RatingQuerySet) -> Columns:
    """Return the ratings of queries as arrays, in no order: one query each."""
    return join_lists(chain.from_iterable(map(rating_lists, queries)))


def check_key(key: int) -> None:
    """Raise OverflowError for a key of a text or a question that has more than 31 bits."""
    if key >> _KEY_BITS:
        raise OverflowError(f"{key} is too large a key")


def pair_keys(text: IntArray, question: IntArray) -> IntArray:
    """Return one number for each pair of a text and a question, whose keys have 31 bits."""
    return text << _KEY_BITS | question


def split_pairs(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the keys of text and question of each of `pair_keys`."""
    return pairs >> _KEY_BITS, pairs & (1 << _KEY_BITS) - 1


def distinct(numbers: IntArray) -> IntArray:
    """Return the different numbers, ascending."""
    # np.unique hashes them, which takes ten times as long.
    ordered = np.sort(numbers)
    return ordered[np.append(True, np.diff(ordered) > 0)[: len(ordered)]]
