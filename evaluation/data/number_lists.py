"""Whole numbers of many rows, read as one string for each group and parsed by numpy.

To make Python objects of a million rows takes ten times as long as the database needs to read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from django.db.models import Aggregate, TextField
from django.db.models.functions import Coalesce

from annotation.models.rating import RatingQuerySet
from evaluation.stats.estimate import IntArray

Columns = dict[str, IntArray]
"""Ratings as arrays: keys of `rater`, `rubric`, `text`, `question`, then `grade` and `read_text`."""

NOT_COPIED = 0  # keys begin with 1; a digit, because the list has one for each rating


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


def rating_columns(*queries: RatingQuerySet) -> Columns:
    """Return the ratings of queries as arrays, in no order: one query each.

    `read_text` is another text than `text` where the grade was copied from that of equal words.
    """
    lists = {
        "text": NumberList("text_id"),
        "question": NumberList("question_id"),
        "grade": NumberList("grade"),
        "read_text": NumberList(Coalesce("copied_from_id", NOT_COPIED)),
    }
    groups: Iterable[Any] = chain.from_iterable(
        ratings.order_by()
        .values_list("rater_id", "rubric_id")
        .annotate(**{f"{name}_list": numbers for name, numbers in lists.items()})
        .iterator(chunk_size=10)
        for ratings in queries
    )
    parts: dict[str, list[IntArray]] = {name: [] for name in ("rater", "rubric", *lists)}
    for rater, rubric, *texts in groups:
        for name, text in zip(lists, texts, strict=True):
            parts[name].append(parse_numbers(text))
        n = len(parts["text"][-1])
        parts["rater"].append(np.full(n, rater))
        parts["rubric"].append(np.full(n, rubric))
    none = np.zeros(0, np.int64)
    columns = {name: np.concatenate([none, *arrays]) for name, arrays in parts.items()}
    is_copy = columns["read_text"] != NOT_COPIED
    columns["read_text"] = np.where(is_copy, columns["read_text"], columns["text"])
    return columns


def pair_keys(text: IntArray, question: IntArray) -> IntArray:
    """Return one number for each pair of a text and a question, whose keys have 31 bits."""
    return text << 31 | question


def split_pairs(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the keys of text and question of each of `pair_keys`."""
    return pairs >> 31, pairs & (1 << 31) - 1


def distinct(numbers: IntArray) -> IntArray:
    """Return the different numbers, ascending."""
    # np.unique hashes them, which takes ten times as long.
    ordered = np.sort(numbers)
    return ordered[np.append(True, np.diff(ordered) > 0)[: len(ordered)]]
