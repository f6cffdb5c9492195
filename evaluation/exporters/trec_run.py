"""A retrieval run as TREC tools read it: topic Q0 text rank score tag."""

from collections.abc import Iterator

from annotation.exporters.errors import ExportError
from annotation.exporters.order import by_code_point
from evaluation.importers.trec_run import score_without
from evaluation.models import RankedText, RetrievalRun

_CHUNK = 2000


def lines(run: RetrievalRun) -> Iterator[str]:
    """The lines in the order of topics and ranks.

    Ranks are counted from 1, whatever the run's own file said. Where no score is known it is the
    reciprocal rank, and where no tag is known it is the run's name. Raises ExportError for a name
    with white space, which would make another column.
    """
    tag = run.tag or run.name
    found = RankedText.objects.filter(run=run).order_by(
        "topic__position", by_code_point("topic__name"), "rank"
    )
    rows = found.values_list("topic__name", "text__name", "rank", "score")
    for topic, text, rank, score in rows.iterator(chunk_size=_CHUNK):
        score = score_without(rank) if score is None else score
        columns = f"{topic} Q0 {text} {rank} {score} {tag}"
        if len(columns.split()) != 6:
            raise ExportError(f"a name of the run {run.name} holds white space: {columns}")
        yield columns + "\n"
