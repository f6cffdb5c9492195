"""Similarity of reports to the references of their topics, stored as report values.

`Cosine` compares one vector of each text, by a server. CRUD-RAG prints such a number under the name bertScore;
BERTScore, which matches the tokens of two texts, is another thing: `building.tuning.bertscore`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from annotation.formats.batches import batches
from annotation.models import Dataset, Text
from building.asking.embeddings import ServerEmbedder
from building.retrieval.vectors import CUT, Rows
from evaluation.data.generations import Generations
from evaluation.models import ReportValue

AT_ONCE = 500  # reports per batch, with bodies and vectors in memory


class Nearness(Protocol):
    """Similarity measure of text pairs; `name` says by which model."""

    name: str

    def of(
        self, ours: Sequence[str], theirs: Sequence[str]
    ) -> tuple[NDArray[np.floating[Any]], int]:
        """Return a value per pair, NaN where there is none, and the number of truncated texts."""


class Cosine:
    """Cosine similarity of one embedding per text. Raises BackendError."""

    def __init__(self, embedder: ServerEmbedder) -> None:
        self.embedder = embedder
        self.name = f"similarity ({embedder.name})"

    def of(self, ours: Sequence[str], theirs: Sequence[str]) -> tuple[Rows, int]:
        a, b = self.embedder.passages(list(ours)), self.embedder.passages(list(theirs))
        return _cosines(a.vectors, b.vectors), int((a.cut == CUT).sum() + (b.cut == CUT).sum())


def measure_of(nearness: Nearness) -> str:
    """Return the name of the stored value, truncated to the column's length."""
    max_length = ReportValue._meta.get_field("measure").max_length or 0
    name = nearness.name
    return name if len(name) <= max_length else f"{name[: max_length - 1]})"


def measure_reports(
    dataset: Dataset, nearness: Nearness, systems: Sequence[str] = (), at_once: int = AT_ONCE
) -> Iterator[tuple[int, int]]:
    """Compute and store the value of each report that lacks it, in batches.

    Each batch is stored when it is whole: what is killed goes on there. Yields how many values were stored, and
    how many of the texts behind them were cut.
    """
    measure = measure_of(nearness)
    references = Generations(dataset).references
    has_value = ReportValue.objects.filter(report=OuterRef("pk"), measure=measure)
    reports = dataset.texts.with_body().filter(
        ~Exists(has_value), kind=Text.Kind.REPORT, topic__in=references
    )
    if systems:
        reports = reports.filter(system__in=systems)
    rows = list(reports.order_by("pk").values_list("pk", "topic_id"))
    for batch in batches(rows, at_once):
        bodies = dict(Text.objects.filter(pk__in=[pk for pk, _ in batch]).values_list("pk", "body"))
        similarities, n_cut = nearness.of(
            [bodies[pk] or "" for pk, _ in batch],
            [references[topic] for _, topic in batch if topic],
        )
        values = [
            ReportValue(report_id=pk, measure=measure, value=float(value))
            for (pk, _), value in zip(batch, similarities, strict=True)
            if not np.isnan(value)
        ]
        with transaction.atomic():
            Dataset.objects.lock(dataset.pk)
            ReportValue.objects.bulk_create(values)
        yield len(values), n_cut


def _cosines(a: Rows, b: Rows) -> Rows:
    """Return row-wise cosines; NaN where a text has no direction."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    dots = (a.astype(np.float64) * b).sum(axis=1)
    return np.divide(dots, lengths, out=np.full(len(a), np.nan), where=lengths > 0)
