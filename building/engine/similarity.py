"""How near reports are to the references of their topics, by vectors of a model at a server.

It is the cosine of one vector of each text. CRUD-RAG prints such a number under the name bertScore; BERTScore,
which matches the tokens of two texts, is another thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from django.db.models import Exists, OuterRef

from annotation.formats.batches import batches
from annotation.models import Dataset, Text
from building.asking.embeddings import ServerEmbedder
from building.retrieval.vectors import CUT, Rows
from evaluation.data.generations import Generations
from evaluation.models import ReportValue

AT_ONCE = 500  # reports whose words and vectors are in memory


def measure_of(embedder: ServerEmbedder) -> str:
    """What the value is called: after the model."""
    most = ReportValue._meta.get_field("measure").max_length or 0
    return f"similarity ({embedder.name[: most - len('similarity ()')]})"


def measure_similarity(
    dataset: Dataset, embedder: ServerEmbedder, systems: Sequence[str] = ()
) -> Iterator[tuple[int, int]]:
    """Keep the value of each report of these systems, or of all, that has none by this model.

    Each batch is stored when it is whole: what is killed goes on there. Yields how many values were stored, and
    how many of the texts behind them the server cut. Raises GraderError.
    """
    measure = measure_of(embedder)
    references = Generations(dataset).references
    has_value = ReportValue.objects.filter(report=OuterRef("pk"), measure=measure)
    reports = dataset.texts.with_body().filter(
        ~Exists(has_value), kind=Text.Kind.REPORT, topic__in=references
    )
    if systems:
        reports = reports.filter(system__in=systems)
    rows = list(reports.order_by("pk").values_list("pk", "topic_id"))
    for batch in batches(rows, AT_ONCE):
        bodies = dict(Text.objects.filter(pk__in=[pk for pk, _ in batch]).values_list("pk", "body"))
        ours = embedder.passages([bodies[pk] or "" for pk, _ in batch])
        theirs = embedder.passages([references[topic] for _, topic in batch if topic])
        cosines = _cosines(ours.vectors, theirs.vectors)
        values = [
            ReportValue(report_id=pk, measure=measure, value=float(value))
            for (pk, _), value in zip(batch, cosines, strict=True)
            if not np.isnan(value)
        ]
        ReportValue.objects.bulk_create(values)
        yield len(values), int((ours.cut == CUT).sum() + (theirs.cut == CUT).sum())


def _cosines(a: Rows, b: Rows) -> Rows:
    """Row by row; NaN where a text has no direction."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    dots = (a.astype(np.float64) * b).sum(axis=1)
    return np.divide(dots, lengths, out=np.full(len(a), np.nan), where=lengths > 0)
