"""Contexts of reports (`docids`) as retrieval runs, named like the reports' systems."""

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import ReportRow
from annotation.formats.reports import topic_and_system
from annotation.formats.target import KnownTopic, Target
from annotation.models import Dataset, Text
from annotation.plurals import n_of
from evaluation.models import RankedText, RetrievalRun

_BATCH = 200


def read(target: Target, source: Source) -> None:
    """Create missing runs. A run that was imported from its own file is left unchanged.

    A context that differs from an existing run is noted in the summary and is no error, since the
    run is what was retrieved, and the report says what was read.
    """
    reader = _Reader(target, source)
    for batch in batches(rows(target, source, ReportRow, is_repeat=True), _BATCH):
        reader.batch(batch)


class _Reader:
    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.runs: dict[str, RetrievalRun] = {}

    def batch(self, batch: list[tuple[int, ReportRow]]) -> None:
        reports = [
            (line, row, *topic_system)
            for line, row in batch
            if (topic_system := topic_and_system(self.target, self.source, line, row))
            and row.docids
        ]
        passages = self.target.passages(name for _, row, *_ in reports for name in row.docids)
        runs = {self._run(system).pk for *_, system in reports}
        stored: dict[tuple[int, int], list[int]] = {}
        for run, topic_key, text in (
            RankedText.objects.filter(
                run__in=runs, topic__in={topic.pk for *_, topic, _ in reports}
            )
            .order_by("run", "topic", "rank")
            .values_list("run_id", "topic_id", "text_id")
        ):
            stored.setdefault((run, topic_key), []).append(text)
        new: list[RankedText] = []
        for line, row, topic, system in reports:
            if len(set(row.docids)) < len(row.docids):
                self.target.problem(self.source, line, "docids", "a passage stands twice")
                continue
            texts = [passages[name] for name in row.docids]
            ranking = stored.setdefault((self._run(system).pk, topic.pk), [])
            if ranking or self._run(system).tag:
                self._compare(line, topic, system, texts, ranking)
                continue
            ranking += texts
            new += (
                RankedText(run=self._run(system), topic_id=topic.pk, text_id=text, rank=rank)
                for rank, text in enumerate(texts, 1)
            )
        RankedText.objects.bulk_create(new)
        if new:
            self.target.summary.created["ranked texts"] += len(new)

    def _compare(
        self, line: int, topic: KnownTopic, system: str, texts: list[int], ranking: list[int]
    ) -> None:
        if texts != ranking:
            has_same_length = len(ranking) == len(texts)
            ranks = (
                f"ranks {'other passages' if has_same_length else n_of(len(ranking), 'passage')}"
            )
            self.target.summary.difference(
                f"{self.source.name}:{line}: the report read {n_of(len(texts), 'passage')}; the run "
                f"{system} {ranks if ranking else 'has no ranking'} for {topic.name}"
            )

    def _run(self, system: str) -> RetrievalRun:
        if system not in self.runs:
            run, created = RetrievalRun.objects.get_or_create(
                dataset=self.target.dataset, name=system
            )
            self.runs[system] = run
            if created:
                self.target.summary.created["retrieval runs"] += 1
        return self.runs[system]


def contexts_of(dataset: Dataset) -> dict[tuple[str, int], list[str]]:
    """{(system, topic key): passages by rank} for the runs that are named like a system."""
    contexts: dict[tuple[str, int], list[str]] = {}
    rows = RankedText.objects.filter(run__dataset=dataset, run__name__in=_systems(dataset))
    for system, topic, text in rows.order_by("run", "topic", "rank").values_list(
        "run__name", "topic_id", "text__name"
    ):
        contexts.setdefault((system, topic), []).append(text)
    return contexts


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
