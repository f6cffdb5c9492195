"""The scores of a dataset as arrays: small enough to be kept, whatever the number of topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotation.models import Dataset
from evaluation.data.cache import cached
from evaluation.metrics.grades import BoolArray
from evaluation.scoring.options import Options
from evaluation.scoring.score import METRICS, RowScore, score
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

RUNS, REPORTS, BOUNDS = "runs", "reports", "bounds"
COUNTS = ("n_passages", "n_answerable", "n_covered", "n_unrated_cells", "n_without_words")


@dataclass(frozen=True)
class BoardRow:
    """A system or a bound. Arrays run over the topics of the board; `has` says which it has.

    `values` and `why` are metrics x topics in the order of METRICS: NaN where undefined, for
    `reasons[why]` (-1 = no reason, because there is a value or because the topic is none of its
    own); `n` and `missing` are of the same shape. `counts` has one array for each of COUNTS,
    `tokens` is NaN where words are not there.
    """

    name: str
    title: str
    group: str
    """runs, reports or bounds."""
    bound: int | None
    means: Mapping[str, Estimate]
    has: BoolArray
    values: FloatArray
    why: NDArray[np.int16]
    reasons: tuple[str, ...]
    n: IntArray
    missing: IntArray
    counts: Mapping[str, IntArray]
    tokens: FloatArray
    ndeval: FloatArray
    """alpha-nDCG as ndeval has it, where it is not the same: see `TopicScore`."""
    mean_ndeval: float | None

    def of(self, metric: str) -> FloatArray:
        """The metric on every topic, NaN where undefined or not one of its topics."""
        by_topic: FloatArray = self.values[METRICS.index(metric)]
        return by_topic

    def reason(self, metric: str, topic: int) -> str:
        """Why the metric is undefined on a topic, by its place; nothing where it has a value."""
        index = int(self.why[METRICS.index(metric), topic])
        return self.reasons[index] if index >= 0 else ""

    @property
    def sizes(self) -> FloatArray:
        """|Z| on every topic, NaN where it is not one of its topics."""
        return np.where(self.has, self.counts["n_passages"], np.nan)

    @property
    def size(self) -> tuple[float, int, int] | None:
        """|Z|: the mean over its topics, the least and the most; None without a topic."""
        own = self.counts["n_passages"][self.has]
        return (float(own.mean()), int(own.min()), int(own.max())) if len(own) else None

    @property
    def n_topics(self) -> int:
        return int(self.has.sum())

    @property
    def n_cells(self) -> int:
        """Pairs of its texts and answerable questions: what its values are read from."""
        return int((self.counts["n_passages"] * self.counts["n_answerable"]).sum())

    @property
    def n_unrated(self) -> int:
        """How many of these have no grade: they answer nothing, so a value may be too low."""
        return int(self.counts["n_unrated_cells"].sum())

    @property
    def n_wordless(self) -> int:
        """Texts whose words are not there, and whose tokens are not known."""
        return int(self.counts["n_without_words"].sum())

    @property
    def undefined(self) -> str:
        """The one reason why nothing of it has a value; empty if something has one."""
        if any(mean.value is not None for mean in self.means.values()):
            return ""
        return (self.means[METRICS[0]].reason or "").removeprefix("undefined, because ")


@dataclass(frozen=True)
class Board:
    """Every row of a dataset under one set of options, and the topics by name and by key."""

    rows: tuple[BoardRow, ...]
    topics: tuple[str, ...]
    keys: tuple[int, ...]
    required_tokens: FloatArray
    """The length of each topic's Z*, NaN where it is not known."""
    n_required: IntArray
    notes: tuple[str, ...]

    @property
    def has_ndeval(self) -> bool:
        """Whether some run gains by passages of other topics, which the ideal of alpha-nDCG lacks."""
        return any(row.mean_ndeval is not None for row in self.rows)

    @cached_property
    def by_name(self) -> dict[str, BoardRow]:
        return {row.name: row for row in self.rows}

    def systems(self, group: str) -> tuple[BoardRow, ...]:
        """The empirical systems of one kind, runs or reports, by name; bounds are none."""
        return tuple(row for row in self.rows if row.group == group)


def board(dataset: Dataset, options: Options) -> Board:
    """The scores of every row, kept until the data change."""
    return cached(dataset, ("retrieval board", options), lambda: _board(dataset, options))


def _board(dataset: Dataset, options: Options) -> Board:
    scores = score(dataset, options)
    pools = scores.pools.values()
    return Board(
        rows=tuple(_row(row) for row in scores.rows),
        topics=scores.topic_names,
        keys=tuple(scores.pools),
        required_tokens=_floats(pool.required_tokens for pool in pools),
        n_required=np.array([len(pool.required) for pool in pools], dtype=np.int64),
        notes=scores.notes,
    )


def _row(row_score: RowScore) -> BoardRow:
    names = row_score.topic_names
    own = [
        (place, row_score.topics[name])
        for place, name in enumerate(names)
        if name in row_score.topics
    ]
    values = np.full((len(METRICS), len(names)), np.nan)
    why = np.full(values.shape, -1, dtype=np.int16)
    n, missing = (np.zeros(values.shape, dtype=np.int64) for _ in range(2))
    reasons: dict[str, int] = {}
    counts = {name: np.zeros(len(names), dtype=np.int64) for name in COUNTS}
    tokens, has = np.full(len(names), np.nan), np.zeros(len(names), dtype=bool)
    ndeval = np.full(len(names), np.nan)
    for place, topic in own:
        has[place] = True
        for row, metric in enumerate(METRICS):
            estimate = topic.metric(metric)
            n[row, place], missing[row, place] = estimate.n, estimate.missing
            if estimate.value is None:
                why[row, place] = reasons.setdefault(estimate.reason or "", len(reasons))
            else:
                values[row, place] = estimate.value
        for name, array in counts.items():
            array[place] = getattr(topic, name)
        if topic.tokens is not None:
            tokens[place] = topic.tokens
        if topic.alpha_ndcg_ndeval is not None:
            ndeval[place] = topic.alpha_ndcg_ndeval
    row_of = row_score.row
    kind = RUNS if row_of.kind == "run" else REPORTS
    return BoardRow(
        name=row_of.name,
        title=row_of.title,
        group=BOUNDS if row_of.bound is not None else kind,
        bound=row_of.bound,
        means=row_score.means,
        has=has,
        values=values,
        why=why,
        reasons=tuple(reasons),
        n=n,
        missing=missing,
        counts=counts,
        tokens=tokens,
        ndeval=ndeval,
        mean_ndeval=row_score.alpha_ndcg_ndeval,
    )


def _floats(values: Iterable[int | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
