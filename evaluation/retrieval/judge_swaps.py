"""Comparison of two judges: scores of the systems by each, and agreement with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotation.models import Dataset
from evaluation.data.cells import load_cells
from evaluation.data.corpus import KINDS, Corpus, Question, load_corpus
from evaluation.data.sources import Source
from evaluation.metrics.grades import BoolArray
from evaluation.metrics.ranges import highest
from evaluation.retrieval.differences import mean_difference
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.scoring.options import Options
from evaluation.scoring.pools import questions_counted
from evaluation.scoring.row_score import METRICS
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.randomisation import JudgeSwap, Randomisation, judge_swap, sign_flips

PASSAGE = KINDS.index("passage")


@dataclass(frozen=True)
class MetricSwap:
    """Judge-swap test: the same systems by two judges and one metric.

    Of each topic the mean over the systems with a value under both. Swapping the judges of a topic
    turns the sign of its difference, so the judge-swap test is a sign-flip test of these.
    """

    metric: str
    mean_a: float | None
    mean_b: float | None
    difference: Estimate
    flip: Randomisation


@dataclass(frozen=True)
class JudgePair:
    """Two judges: each metric, and their kappas with the people where people rated passages."""

    a: Source
    b: Source
    metrics: tuple[MetricSwap, ...]
    kappas: JudgeSwap | None


def is_judge(source: Source) -> bool:
    """Return whether the grades are those of one model or baseline."""
    return source.kind == "rater" and source.rater is not None and source.rater.is_judge


def people_of(sources: Sequence[Source]) -> Source | None:
    """Return the people to compare judges with: their majority, the only one, or None."""
    majority = next((source for source in sources if source.kind == "majority"), None)
    single_raters = (s for s in sources if s.kind == "rater" and s.rater and s.rater.is_person)
    return majority or next(single_raters, None)


def judge_pairs(
    dataset: Dataset,
    boards: Mapping[Source, Leaderboard],
    people: Source | None,
    group: str,
    topics: str,
    options: Options,
) -> tuple[JudgePair, ...]:
    """Compare each two judges among the boards' sources, over the compared systems of a kind."""
    judges = [source for source in boards if is_judge(source)]
    pairs = list(combinations(judges, 2))
    if not pairs:
        return ()
    verdicts: dict[Source, _Verdicts] = {}
    if people:
        corpus = load_corpus(dataset)
        counted = questions_counted(dataset, corpus, options)
        verdicts = {
            s: _verdicts(dataset, s, options.eta, corpus, counted) for s in (people, *judges)
        }
    return tuple(
        JudgePair(
            a,
            b,
            _metric_swaps(boards[a], boards[b], group, topics),
            _kappas(verdicts[people], verdicts[a], verdicts[b]) if people else None,
        )
        for a, b in pairs
    )


def _metric_swaps(
    a: Leaderboard, b: Leaderboard, group: str, topics: str
) -> tuple[MetricSwap, ...]:
    compared_names = {row.name for row in b.compared(group, topics)}
    names = [row.name for row in a.compared(group, topics) if row.name in compared_names]
    columns = [_topic_means(a, b, names, metric) for metric in METRICS]
    flips = sign_flips(np.column_stack([ours - theirs for ours, theirs in columns]))
    return tuple(
        MetricSwap(
            metric,
            _mean(ours),
            _mean(theirs),
            mean_difference(ours - theirs).within(-highest(metric), highest(metric)),
            flip,
        )
        for metric, (ours, theirs), flip in zip(METRICS, columns, flips, strict=True)
    )


def _topic_means(
    a: Leaderboard, b: Leaderboard, names: Sequence[str], metric: str
) -> tuple[FloatArray, FloatArray]:
    """Return each topic's mean over the systems with a value under both; NaN without any."""
    shape = (len(names), len(a.topics))
    ours = np.array([a.by_name[name].of(metric) for name in names]).reshape(shape)
    theirs = np.array([b.by_name[name].of(metric) for name in names]).reshape(shape)
    both = ~(np.isnan(ours) | np.isnan(theirs))
    n = both.sum(axis=0)

    def mean(values: FloatArray) -> FloatArray:
        sums = np.where(both, values, 0.0).sum(axis=0)
        return np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)

    return mean(ours), mean(theirs)


def _mean(values: FloatArray) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


@dataclass(frozen=True)
class _Verdicts:
    """Yes or no for each rated cell of a passage, by the number of the cell."""

    cell: IntArray
    topic: IntArray
    answers: BoolArray


def _verdicts(
    dataset: Dataset,
    source: Source,
    eta: int,
    corpus: Corpus,
    counted: Mapping[int, tuple[Question, ...]],
) -> _Verdicts:
    cells = load_cells(dataset, source, eta, corpus)
    passages = corpus.kind[corpus.at(cells.text)] == PASSAGE
    grades, topic = cells.grades[passages], cells.topic[passages]
    counts = np.zeros(grades.shape, dtype=bool)
    for of, questions in counted.items():
        counts[np.ix_(topic == of, [question.position for question in questions])] = True
    row, column = np.nonzero(~np.isnan(grades) & counts)
    # Keys of topics and texts, and the position, as one number: far below the 63 bits there are.
    base = int(corpus.pk.max(initial=0)) + 1
    pair = topic * base + cells.text[passages]
    width = max((q.position for qs in corpus.questions.values() for q in qs), default=0) + 1
    return _Verdicts(
        pair[row] * width + column,
        topic[row],
        grades[row, column] >= cells.scales["passage"].eta,
    )


def _kappas(people: _Verdicts, a: _Verdicts, b: _Verdicts) -> JudgeSwap:
    """Return Cohen's kappa of either judge with the people, over the cells that people rated."""

    def of(judge: _Verdicts) -> FloatArray:
        order = np.argsort(judge.cell)
        position = np.searchsorted(judge.cell, people.cell, sorter=order)
        position = (
            order[np.minimum(position, max(len(order) - 1, 0))]
            if len(order)
            else np.empty(0, np.int64)
        )
        answers = np.full(len(people.cell), np.nan)
        if len(order):
            is_rated = judge.cell[position] == people.cell
            answers[is_rated] = judge.answers[position[is_rated]]
        return answers

    return judge_swap(people.answers.astype(np.float64), of(a), of(b), [0, 1], people.topic)
