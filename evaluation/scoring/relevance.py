"""Scores of runs by relevance grades of whole topics, as trec_eval computes from qrels."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.relevance import Grades, RelevanceSource, relevance_grades
from evaluation.data.selection import SelectionError, one_of
from evaluation.metrics import ranking
from evaluation.metrics.grades import BoolArray
from evaluation.scoring.options import NONE, SIZE
from evaluation.scoring.rows import Row, rows
from evaluation.scoring.same_topics import identical_rankings
from evaluation.scoring.table import mean_over_topics
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

NDCG, MAP, RR, RECALL, PRECISION = (
    "ndcg",
    "average_precision",
    "reciprocal_rank",
    "recall",
    "precision",
)
MEASURES = (NDCG, MAP, RR, RECALL, PRECISION)
AT_DEPTH = {NDCG: "nDCG", RECALL: "Recall", PRECISION: "P"}
WHOLE = {MAP: "MAP", RR: "MRR"}
DEPTH = 10
NO_EXTRA = "Other measures take the package ir-measures, an extra: make env EXTRAS=measures."
NO_RESULTS = "undefined, because there are no results for the topic"


@dataclass(frozen=True, slots=True)
class RelevanceOptions:
    """Source of the grades, threshold eta, cut-off rank (None: all), and extra measures.

    `depth` limits nDCG, recall and precision, as trec_eval's ndcg_cut_k, recall_k and P_k; MAP and MRR are of
    the whole run. `zeros` says whether topics without results count as 0: see `Options`.
    """

    source: RelevanceSource
    eta: int
    depth: int | None = DEPTH
    zeros: str = "runs"
    extra_measures: tuple[str, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        return (*MEASURES, *self.extra_measures)

    @property
    def titles(self) -> dict[str, str]:
        """The measures by their names, with the depth where they have one."""
        at = f"@{self.depth}" if self.depth else ""
        return {
            name: f"{AT_DEPTH[name]}{at}" if name in AT_DEPTH else WHOLE.get(name, name)
            for name in self.measures
        }


@dataclass(frozen=True, eq=False)
class RelevanceRow:
    """Scores of a run by all measures, as arrays in the order of `RelevanceScores.topics`.

    `has` says on which topics the run has results, `judged` on which some passage is relevant. `values` are NaN
    where undefined, and 0 on a judged topic without results where that counts. `n_unjudged` counts the passages
    to the depth without a grade.
    """

    name: str
    values: Mapping[str, FloatArray] = field(repr=False)
    means: Mapping[str, Estimate]
    has: BoolArray
    judged: BoolArray
    sizes: FloatArray
    n_unjudged: IntArray
    counts_absent: bool

    @property
    def title(self) -> str:
        return self.name

    def of(self, metric: str) -> FloatArray:
        return self.values[metric]

    @property
    def n_topics(self) -> int:
        """Judged topics with results."""
        return int((self.has & self.judged).sum())

    @property
    def absent(self) -> BoolArray:
        return self.judged & ~self.has

    @property
    def n_absent(self) -> int:
        return int(self.absent.sum())

    @property
    def absent_remark(self) -> str:
        """Remark on topics without results and their treatment; empty if all have results."""
        if not self.n_absent:
            return ""
        fate = "counted as 0" if self.counts_absent else "left out"
        return f"{n_of(self.n_absent, 'topic')} without results, {fate}"

    @property
    def mean_ndeval(self) -> None:
        """Always None: only alpha-nDCG has it."""


@dataclass(frozen=True)
class RelevanceScores:
    """The runs of a dataset by relevance grades, and the graded topics by name and key."""

    options: RelevanceOptions
    topics: tuple[str, ...]
    keys: tuple[int, ...]
    rows: tuple[RelevanceRow, ...]
    notes: tuple[str, ...]

    @property
    def n_judged(self) -> int:
        """Topics with a relevant passage."""
        return int(self.rows[0].judged.sum()) if self.rows else 0


def relevance_scores(
    dataset: Dataset, options: RelevanceOptions, names: Sequence[str] | None = None
) -> RelevanceScores:
    """Score every run, or those named, by relevance grades; kept until the data change.

    Rankings are those of the dataset: by falling score, equal scores in the order of the file, where trec_eval
    orders them by name. A passage without a grade is irrelevant. nDCG has the grades as linear gains, as
    trec_eval's ndcg_cut (a grade below 0 gains nothing); for all else a passage is relevant from eta. A topic
    without a relevant passage is undefined, where trec_eval prints 0. Other measures are computed by
    ir_measures, given the same ranking.

    Raises SelectionError for a run that is not there, or a measure that ir_measures does not know or cannot
    compute here.
    """
    scores = cached(
        dataset, (CacheKey.RELEVANCE_SCORES, options), lambda: _scores(dataset, options)
    )
    if names is None:
        return scores
    for name in names:
        one_of("run", name, (row.name for row in scores.rows))
    chosen = tuple(row for row in scores.rows if row.name in names)
    return RelevanceScores(options, scores.topics, scores.keys, chosen, scores.notes)


def _scores(dataset: Dataset, options: RelevanceOptions) -> RelevanceScores:
    grades = relevance_grades(dataset, options.source)
    topics = dict(
        dataset.topics.filter(pk__in=grades).order_by("position", "pk").values_list("pk", "name")
    )
    runs = [row for row in rows(dataset, {}) if row.kind == "run"]
    extra_values = _of_ir_measures(options, grades, runs) if options.extra_measures else {}
    return RelevanceScores(
        options,
        tuple(topics.values()),
        tuple(topics),
        tuple(_row(row, options, tuple(topics), grades, extra_values) for row in runs),
        tuple(
            f"These runs have identical rankings: {', '.join(same)}."
            for same in identical_rankings(runs)
        ),
    )


ExtraValues = Mapping[tuple[str, str, int], float]
"""By run, measure and key of the topic."""


def _row(
    row: Row,
    options: RelevanceOptions,
    topics: Sequence[int],
    grades: Grades,
    extra_values: ExtraValues,
) -> RelevanceRow:
    values = {measure: np.full(len(topics), np.nan) for measure in options.measures}
    defined = {measure: np.zeros(len(topics), dtype=bool) for measure in options.measures}
    sizes, n_unjudged = np.full(len(topics), np.nan), np.zeros(len(topics), dtype=np.int64)
    for index, topic in enumerate(topics):
        all_grades = np.array(list(grades[topic].values()), dtype=np.float64)
        texts = row.contexts.get(topic, ())
        ranked = np.array([grades[topic].get(text, np.nan) for text in texts], dtype=np.float64)
        estimates = topic_scores(ranked, all_grades, options)
        for measure in options.measures:
            estimate = estimates.get(measure)
            is_defined = (estimate or estimates[RR]).value is not None
            defined[measure][index] = is_defined
            if texts and is_defined:
                value = estimate.value if estimate else extra_values.get((row.name, measure, topic))
                values[measure][index] = np.nan if value is None else value
        if texts:
            sizes[index] = len(ranked[: options.depth])
            n_unjudged[index] = int(np.isnan(ranked[: options.depth]).sum())
    has = ~np.isnan(sizes)
    counts_absent = options.zeros != NONE and bool(has.any())
    if counts_absent:
        for measure in options.measures:
            values[measure][defined[measure] & ~has] = 0.0
    means = {}
    for measure in options.measures:
        reason_by_topic = [
            ranking.NO_RELEVANT if has_results else NO_RESULTS for has_results in has.tolist()
        ]
        counted = has | defined[measure]
        missing = np.isnan(values[measure]) & counted
        reasons = [reason_by_topic[index] for index in np.flatnonzero(missing).tolist()]
        means[measure] = mean_over_topics(values[measure][counted], reasons)
    judged = np.logical_or.reduce(list(defined.values()))
    return RelevanceRow(
        row.name, values, means, has, judged, sizes, n_unjudged, counts_absent=counts_absent
    )


def topic_scores(
    ranked: FloatArray, all_grades: FloatArray, options: RelevanceOptions
) -> dict[str, Estimate]:
    """The measures of one topic. `ranked` are grades in rank order, NaN = not graded."""
    unknown = np.isnan(ranked)
    relevance = np.where(unknown, np.nan, ranked >= options.eta)
    n_relevant = int((all_grades >= options.eta).sum())
    depth = options.depth or max(len(ranked), 1)
    # Without a depth the ideal goes over all relevant passages, as trec_eval's ndcg does.
    ideal = options.depth or max(len(ranked), len(all_grades), 1)
    gains = np.where(unknown, np.nan, np.maximum(ranked, 0))
    return {
        NDCG: ranking.ndcg(gains, np.maximum(all_grades, 0), ideal),
        MAP: ranking.average_precision(relevance, n_relevant, len(ranked)),
        RR: ranking.reciprocal_rank(relevance, n_relevant),
        RECALL: ranking.recall(relevance, n_relevant, depth),
        PRECISION: ranking.precision(relevance, n_relevant, depth),
    }


def _of_ir_measures(options: RelevanceOptions, grades: Grades, runs: Sequence[Row]) -> ExtraValues:
    """Scores by ir_measures, relevant from eta unless the name of the measure says otherwise."""
    library = _library()
    measures = {name: _measure(library, name, options.eta) for name in options.extra_measures}
    names = {measure: name for name, measure in measures.items()}
    qrels = [
        library.Qrel(str(topic), str(text), grade)
        for topic, of_topic in grades.items()
        for text, grade in of_topic.items()
    ]
    values: dict[tuple[str, str, int], float] = {}
    for row in runs:
        # The rank as a score: what has equal scores in its file stays in our order.
        run = [
            library.ScoredDoc(str(topic), str(text), -float(rank))
            for topic, texts in row.contexts.items()
            if topic in grades
            for rank, text in enumerate(texts)
        ]
        try:
            for metric in library.iter_calc(list(names), qrels, run):
                values[row.name, names[metric.measure], int(metric.query_id)] = float(metric.value)
        except (ValueError, RuntimeError, NotImplementedError, TypeError) as error:
            raise SelectionError(
                f"ir_measures cannot compute {', '.join(options.extra_measures)} here: {error}"
            ) from error
    return values


def _library() -> Any:
    try:
        return importlib.import_module("ir_measures")
    except ImportError:
        raise SelectionError(NO_EXTRA) from None


def _measure(library: Any, name: str, eta: int) -> Any:
    try:
        measure = library.parse_measure(name)
    except (NameError, ValueError, SyntaxError, TypeError, KeyError) as error:
        raise SelectionError(
            f"ir_measures knows no measure “{name}”: {error}. It knows, for example, ERR@10, RBP, Rprec, "
            "Bpref, nDCG(dcg='exp-log2')@10."
        ) from error
    if "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params:
        measure = measure(rel=eta)
    return measure


def check_measures(names: Sequence[str], eta: int) -> None:
    """Raise SelectionError for a measure that ir_measures does not know.

    Also where ir_measures is not installed.
    """
    for name in names:
        _measure(_library(), name, eta)


def relevance_json(scores: RelevanceScores, row: RelevanceRow) -> dict[str, Any]:
    """Return the scores of one run, with its options, for JSON; an undefined value is null."""
    options = scores.options
    indices = np.flatnonzero(row.has | row.absent).tolist()
    return {
        "run": row.name,
        "kind": "run",
        "source": options.source.name,
        "eta": options.eta,
        "cutoff": options.depth or SIZE,
        "zeros": options.zeros,
        "measures": options.titles,
        "topics": {
            scores.topics[index]: {
                "n_passages": int(np.nan_to_num(row.sizes[index])),
                "n_unjudged": int(row.n_unjudged[index]),
                **{measure: _value(row.of(measure)[index]) for measure in options.measures},
            }
            for index in indices
        },
        "topics_without_results": [
            scores.topics[index] for index in np.flatnonzero(row.absent).tolist()
        ],
        "mean": {
            measure: {
                "value": mean.value,
                "n": mean.n,
                "missing": mean.missing,
                "ci95": None if mean.low is None else [mean.low, mean.high],
                "reason": mean.reason or mean.interval_reason,
            }
            for measure, mean in row.means.items()
        },
    }


def _value(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
