"""Retrieval runs for the judging app, which does not know the app that stores them."""

from annotation.models import Dataset
from evaluation.models import RankedText, RetrievalRun


def names(dataset: Dataset) -> list[str]:
    """Return the names of the retrieval runs of a dataset."""
    return list(RetrievalRun.objects.filter(dataset=dataset).values_list("name", flat=True))


def ranked(dataset: Dataset, run: str, depth: int | None) -> dict[int, list[int]]:
    """Return text keys by topic in the order of ranks, the first `depth` of each topic."""
    rows = RankedText.objects.filter(run__dataset=dataset, run__name=run)
    if depth is not None:
        rows = rows.filter(rank__lte=depth)
    by_topic: dict[int, list[int]] = {}
    for topic, text in rows.order_by("topic_id", "rank").values_list("topic_id", "text_id"):
        by_topic.setdefault(topic, []).append(text)
    return by_topic
