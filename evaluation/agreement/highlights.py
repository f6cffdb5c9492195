"""Agreement of the highlights of all raters, on the characters of the texts."""

from __future__ import annotations

import numpy as np
from django.db.models.functions import Length

from annotation.models import Text
from evaluation.data.ratings import RatingMatrix, ratings_under
from evaluation.data.spans import Evidence, requires_spans
from evaluation.stats.estimate import Estimate
from evaluation.stats.unitizing import Span, unitised_alpha


def highlights_alpha(matrix: RatingMatrix, evidence: Evidence) -> Estimate:
    """Return Krippendorff's alpha_u of all items that two raters read for highlights.

    One query. A rating that needs no highlight is a reading without any. A rating without its required
    highlight, or with one that is not in the text, has no position, so it is no reading. A text whose
    body is missing has no readings either.
    """
    raters = [rater.pk for rater in matrix.selection.raters]
    rated = ratings_under(matrix.selection, raters).order_by().values("text_id")
    texts = Text.objects.filter(pk__in=rated, body__isnull=False)
    length = dict(texts.order_by().values_list("pk", Length("body")))
    has_body = np.array([pk in length for pk in matrix.text.tolist()], dtype=bool)
    calls = requires_spans(matrix)
    read = ~np.isnan(matrix.grades) & ~evidence.not_in_text() & has_body[:, np.newaxis]
    read &= evidence.marked() | ~calls
    readings: list[list[list[Span] | None]] = [
        [[] if is_read else None for is_read in row] for row in read.tolist()
    ]
    located = np.flatnonzero((evidence.item >= 0) & (evidence.start >= 0))
    for item, column, start, end in zip(
        evidence.item[located].tolist(),
        evidence.column[located].tolist(),
        evidence.start[located].tolist(),
        evidence.end[located].tolist(),
        strict=True,
    ):
        reading = readings[item][column]
        if reading is not None:
            reading.append((start, end))
    sizes = np.array([length.get(pk, 0) for pk in matrix.text.tolist()], dtype=np.int64)
    return unitised_alpha(readings, sizes, matrix.topic)
