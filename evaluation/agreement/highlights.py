"""Agreement of the highlights of all raters, on the characters of the texts."""

from __future__ import annotations

import numpy as np
from django.db.models.functions import Length

from annotation.models import Text
from evaluation.data.corpus import load_corpus
from evaluation.data.ratings import RatingMatrix, look_up
from evaluation.data.spans import Evidence, requires_spans
from evaluation.metrics.grades import BoolArray
from evaluation.stats.estimate import Estimate, IntArray
from evaluation.stats.unitizing import Span, alpha_of_marked_items


def highlights_alpha(matrix: RatingMatrix, evidence: Evidence) -> Estimate:
    """Return Krippendorff's alpha_u of all items that two raters read for highlights.

    One query. A rating that needs no highlight is a reading without any. A rating without its required
    highlight, or with one that is not in the text, has no position, so it is no reading. A text whose
    body is missing has no readings either.
    """
    located = np.flatnonzero((evidence.item >= 0) & (evidence.start >= 0))
    sizes, has_body = _sizes(matrix, are_needed=bool(len(located)))
    calls = requires_spans(matrix)
    read = ~np.isnan(matrix.grades) & ~evidence.not_in_text() & has_body[:, np.newaxis]
    read &= evidence.marked() | ~calls
    located = located[read[evidence.item[located], evidence.column[located]]]
    spans: dict[int, dict[int, list[Span]]] = {}
    for item, column, start, end in zip(
        evidence.item[located].tolist(),
        evidence.column[located].tolist(),
        evidence.start[located].tolist(),
        evidence.end[located].tolist(),
        strict=True,
    ):
        spans.setdefault(item, {}).setdefault(column, []).append((start, end))
    marked = {
        item: [by_column.get(column, []) for column in np.flatnonzero(read[item]).tolist()]
        for item, by_column in spans.items()
    }
    return alpha_of_marked_items(marked, read.sum(axis=1), sizes, matrix.topic)


def _sizes(matrix: RatingMatrix, *, are_needed: bool) -> tuple[IntArray, BoolArray]:
    """Return the number of characters of each item's text, and whether it has a body.

    All sizes are 0 unless they are needed: the database must read every text to count its characters.
    """
    dataset = matrix.selection.dataset
    if not are_needed:
        corpus = load_corpus(dataset)
        missing = corpus.pk[~corpus.has_body]
        return np.zeros_like(matrix.text), ~np.isin(matrix.text, missing)
    texts = Text.objects.filter(dataset=dataset).order_by()
    length = dict(texts.filter(body__isnull=False).values_list("pk", Length("body")))
    return (
        look_up(matrix.text, lambda pk: length.get(pk, 0), np.int64),
        look_up(matrix.text, length.__contains__, np.bool_),
    )
