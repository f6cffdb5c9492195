"""Reports with their output, the relevant items of their topics, and their contexts.

Rows of the database are loaded into sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from annotation.models import Citation, Dataset
from evaluation.data.cells import Cells, load_cells
from evaluation.data.corpus import KINDS, PASSAGE, Corpus, load_corpus
from evaluation.metrics.grades import BoolArray
from evaluation.metrics.relevance_seen import Rules
from evaluation.models import RankedText
from evaluation.replications.rel_recall.query import Options
from evaluation.stats.estimate import FloatArray, IntArray

REPORT = KINDS.index("report")
MAX_CITATIONS = 3  # citations of a statement that ALCE's code reads


@dataclass(frozen=True, slots=True)
class Grades:
    """Grades of a topic's texts by one source: texts x positions, NaN where unrated."""

    texts: IntArray
    grades: FloatArray
    answers: BoolArray

    def row(self, text: int) -> int | None:
        """The row of a text; None where nothing of it is rated."""
        index = int(np.searchsorted(self.texts, text))
        return index if index < len(self.texts) and self.texts[index] == text else None


@dataclass(frozen=True, slots=True)
class TopicMaterial:
    """A topic, by positions of its questions and keys of texts.

    `unfiltered` are the questions that are not filtered, `answerable` those of them that a passage of P*
    answers, `relevant` the passages that answer one that is asked.
    """

    pk: int
    name: str
    unfiltered: frozenset[int]
    answerable: frozenset[int]
    relevant: frozenset[int]
    passages: Grades
    reports: Grades


@dataclass(frozen=True, slots=True)
class Mark:
    """Citation: the span of its statement in the report, and the text; None if unresolved."""

    statement: tuple[int, int]
    label: str
    text: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """Report with its context: the retrieved passages, best first; None where unknown."""

    pk: int
    name: str
    system: str
    topic: int
    context: tuple[int, ...] | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Material:
    """Topics, in their order, and reports by topic and system."""

    topics: Mapping[int, TopicMaterial]
    reports: tuple[Report, ...]
    corpus: Corpus = field(repr=False)

    def names(self, texts: Iterable[int]) -> list[str]:
        return [self.corpus.names[index] for index in self.corpus.at(list(texts)).tolist()]


def load_material(dataset: Dataset, options: Options) -> Material:
    """Load topics and reports: seven queries, whatever the number of ratings."""
    corpus = load_corpus(dataset)
    judged = load_cells(dataset, options.source, options.eta, corpus)
    rated = judged
    if options.rater != options.source:
        rated = load_cells(dataset, options.rater, options.eta, corpus)
    topics = {pk: _topic(corpus, judged, rated, pk) for pk in corpus.topics}
    contexts = _contexts(dataset, corpus, options)
    marks = _marks(dataset, options.rules)
    report_indices = np.flatnonzero((corpus.kind == REPORT) & (corpus.topic != 0)).tolist()
    order = {topic: index for index, topic in enumerate(corpus.topics)}
    reports = [
        Report(
            pk=(pk := int(corpus.pk[index])),
            name=corpus.names[index],
            system=(system := corpus.systems[index]),
            topic=(topic := int(corpus.topic[index])),
            context=contexts.get((options.run or system, topic)),
            marks=marks.get(pk, ()),
        )
        for index in report_indices
    ]
    reports.sort(key=lambda report: (order[report.topic], report.system, report.pk))
    return Material(topics, tuple(reports), corpus)


def _topic(corpus: Corpus, judged: Cells, rated: Cells, pk: int) -> TopicMaterial:
    passages, reports = _grades(judged, "passage", pk), _grades(rated, "report", pk)
    positions = [question.position for question in corpus.questions[pk] if not question.is_filtered]
    indices = corpus.at(passages.texts)
    is_passage = corpus.kind[indices] == PASSAGE
    is_topic_passage = is_passage & (corpus.topic[indices] == pk)
    # As in the pools of the other pages: where no passage belongs to the topic, all rated ones count.
    belongs = ((corpus.topic == pk) & (corpus.kind == PASSAGE)).any()
    answered = passages.answers[is_topic_passage if belongs else is_passage].any(axis=0)
    relevant = is_passage & passages.answers[:, positions].any(axis=1)
    return TopicMaterial(
        pk=pk,
        name=corpus.topics[pk],
        unfiltered=frozenset(positions),
        answerable=frozenset(position for position in positions if answered[position]),
        relevant=frozenset(passages.texts[relevant].tolist()),
        passages=passages,
        reports=reports,
    )


def _grades(cells: Cells, kind: str, topic: int) -> Grades:
    rows = cells.of_topic(topic)
    grades = cells.grades[rows]
    return Grades(cells.text[rows], grades, grades >= cells.scales[kind].eta)


def _contexts(
    dataset: Dataset, corpus: Corpus, options: Options
) -> dict[tuple[str, int], tuple[int, ...]]:
    """By name of the run and key of the topic."""
    names = [options.run] if options.run else sorted(set(corpus.systems) - {""})
    ranked = RankedText.objects.filter(run__dataset=dataset, run__name__in=names)
    if options.depth:
        ranked = ranked.filter(rank__lte=options.depth)
    contexts = defaultdict[tuple[str, int], list[int]](list)
    rows = ranked.order_by("run_id", "topic_id", "rank").values_list(
        "run__name", "topic_id", "text_id"
    )
    for name, topic, text in rows.iterator(chunk_size=10_000):
        contexts[name, topic].append(text)
    return {key: tuple(texts) for key, texts in contexts.items()}


def _marks(dataset: Dataset, rules: Rules) -> dict[int, tuple[Mark, ...]]:
    """Return the citations of each report in order; under ALCE's rules three per statement."""
    marks = defaultdict[int, list[Mark]](list)
    n = defaultdict[tuple[int, int, int], int](int)
    rows = Citation.objects.filter(report__dataset=dataset).order_by("report_id", "position")
    columns = ("report_id", "start", "end", "label", "cited_id")
    for report, start, end, label, text in rows.values_list(*columns).iterator(chunk_size=10_000):
        n[report, start, end] += 1
        if rules == "paper" or n[report, start, end] <= MAX_CITATIONS:
            marks[report].append(Mark((start, end), label, text))
    return {report: tuple(of_report) for report, of_report in marks.items()}


def answered(grades: Grades, texts: Sequence[int]) -> set[int]:
    """The positions of the questions that one of these texts answers."""
    rows = [row for row in map(grades.row, texts) if row is not None]
    return set(np.flatnonzero(grades.answers[rows].any(axis=0)).tolist()) if rows else set()
