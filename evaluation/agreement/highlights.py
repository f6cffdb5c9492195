"""Agreement of the highlights of all raters, on the characters of the texts."""

from __future__ import annotations

import numpy as np
from django.db.models.functions import Length

from annotation.models import Text
from evaluation.data.ratings import RatingMatrix, ratings_under
from evaluation.data.spans import Evidence, calls_for_words
from evaluation.stats.estimate import Estimate
from evaluation.stats.unitizing import Span, unitised_alpha


def highlights_alpha(matrix: RatingMatrix, evidence: Evidence) -> Estimate:
    """Krippendorff's alpha_u of every item that two raters read for highlights: one query.

    A rating that calls for none is a reading without any. One that calls for a highlight and has
    none, or one whose words are not in the text, says not where: it is no reading. Nor is there one
    of a text whose words are not here.
    """
    raters = [rater.pk for rater in matrix.selection.raters]
    rated = ratings_under(matrix.selection, raters).order_by().values("text_id")
    held = Text.objects.filter(pk__in=rated, body__isnull=False)
    length = dict(held.order_by().values_list("pk", Length("body")))
    has_words = np.array([pk in length for pk in matrix.text.tolist()], dtype=bool)
    calls = calls_for_words(matrix)
    read = ~np.isnan(matrix.grades) & ~evidence.not_in_text() & has_words[:, np.newaxis]
    read &= evidence.marked() | ~calls
    readings: list[list[list[Span] | None]] = [
        [[] if there else None for there in row] for row in read.tolist()
    ]
    there = np.flatnonzero((evidence.item >= 0) & (evidence.start >= 0))
    for item, column, start, end in zip(
        evidence.item[there].tolist(),
        evidence.column[there].tolist(),
        evidence.start[there].tolist(),
        evidence.end[there].tolist(),
        strict=True,
    ):
        reading = readings[item][column]
        if reading is not None:
            reading.append((start, end))
    sizes = np.array([length.get(pk, 0) for pk in matrix.text.tolist()], dtype=np.int64)
    return unitised_alpha(readings, sizes, matrix.topic)
