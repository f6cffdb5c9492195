"""The contexts of reports, and the runs that say no more than these."""

from annotation.models import Dataset, Text
from evaluation.models import RankedText, RetrievalRun


def contexts_of(dataset: Dataset) -> dict[tuple[str, int], list[str]]:
    """{(system, topic key): passages by rank} for the runs that are named like a system."""
    found: dict[tuple[str, int], list[str]] = {}
    rows = RankedText.objects.filter(run__dataset=dataset, run__name__in=_systems(dataset))
    for system, topic, text in rows.order_by("run", "topic", "rank").values_list(
        "run__name", "topic_id", "text__name"
    ):
        found.setdefault((system, topic), []).append(text)
    return found


def runs_of(dataset: Dataset) -> list[RetrievalRun]:
    """The runs that need a file of their own, by name.

    A run that was made from the contexts of reports comes back with them: it has neither scores
    nor a tag, and a report for each of its topics.
    """
    runs = RetrievalRun.objects.filter(dataset=dataset, ranked__isnull=False).distinct()
    return sorted((run for run in runs if not _only_contexts(run)), key=lambda run: run.name)


def _only_contexts(run: RetrievalRun) -> bool:
    if run.tag or run.ranked.filter(score__isnull=False).exists():
        return False
    topics = set(run.ranked.values_list("topic_id", flat=True).distinct())
    reports = Text.objects.filter(
        dataset=run.dataset_id, kind=Text.Kind.REPORT, system=run.name, body__isnull=False
    )
    return topics <= set(reports.values_list("topic_id", flat=True))


def _systems(dataset: Dataset) -> list[str]:
    reports = Text.objects.filter(dataset=dataset, kind=Text.Kind.REPORT)
    return list(reports.order_by().values_list("system", flat=True).distinct())
