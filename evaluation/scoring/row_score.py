"""Scores of one row as arrays over topics, and its scores on one topic, built on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.grades import BoolArray
from evaluation.scoring.pools import Pool
from evaluation.scoring.rows import Row
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

METRICS = ("coverage", "alpha_ndcg", "density", "recall", "average_precision", "ndcg")
OF_TEXTS = ("coverage", "density")  # what is measured of one text, too
COUNTS = ("n_passages", "n_answerable", "n_covered", "n_unrated_cells", "n_without_words")
RUNS, REPORTS, BOUNDS = "runs", "reports", "bounds"
NO_REASON = -1
NO_RESULTS = "undefined, because there are no results for the topic"


@dataclass(frozen=True, slots=True)
class TopicScore:
    """Scores of one context Z on one topic.

    `texts` are the keys of Z after the cut-off. `n_unrated` counts those of its texts with an
    unrated cell among the answerable questions, `n_unrated_cells` these cells: a grade there could
    raise the values. `tokens` is None if the words of a text are not there and nothing stands in
    for them; `n_without_words` counts such texts. `required_subset` has the names of Z*,
    `required_tokens` its length. `alpha_ndcg_ndeval` is what ndeval has, given judgements of P*:
    passages of other topics gain nothing. None where it is the same.
    """

    coverage: Estimate
    alpha_ndcg: Estimate
    density: Estimate
    recall: Estimate
    average_precision: Estimate
    ndcg: Estimate
    texts: tuple[int, ...]
    covered: tuple[int, ...]
    """The answerable questions that Z covers, as columns of the pool."""
    n_answerable: int
    n_unrated: int
    n_unrated_cells: int
    n_without_words: int
    tokens: int | None
    required_subset: tuple[str, ...]
    required_tokens: int | None
    alpha_ndcg_ndeval: float | None = None

    @property
    def n_passages(self) -> int:
        """The texts of Z."""
        return len(self.texts)

    @property
    def n_covered(self) -> int:
        return len(self.covered)

    def metric(self, name: str) -> Estimate:
        estimate = getattr(self, name)
        assert isinstance(estimate, Estimate)
        return estimate


@dataclass(frozen=True, eq=False)
class RowScore:
    """The scores of one row: a system, or a bound.

    Arrays run over the topics of the dataset. `has` says on which of them it has results, and `judged`
    on which there is something to find: an answerable question or a relevant passage. `values` and
    `reason_codes` are metrics x topics in the order of METRICS: NaN where undefined, for `reasons[code]`
    (NO_REASON where there is a value or no result); 0 on a judged topic without results where the
    options say that it counts; `n` and `missing` are of the same
    shape. `counts` has one array for each of COUNTS, `tokens` is NaN where words are not there.

    `means` are over the topics with a value, `n` of them; `missing` counts its other topics and
    those that are judged for the metric and have no results. Their interval is a t interval over topics.
    """

    row: Row
    means: Mapping[str, Estimate]
    topic_index: Mapping[str, int] = field(repr=False)
    """All topics of the dataset by name, in order, with their places in the arrays."""
    has: BoolArray
    judged: BoolArray
    values: FloatArray
    reason_codes: NDArray[np.int16]
    reasons: tuple[str, ...]
    n: IntArray
    missing: IntArray
    counts: Mapping[str, IntArray]
    unrated_texts: IntArray
    """Texts with an unrated cell among the answerable questions."""
    tokens: FloatArray
    ndeval: FloatArray
    """alpha-nDCG as ndeval has it, where it is not the same: see `TopicScore`."""
    covered: BoolArray
    """topics x columns of their pools."""
    pools: tuple[Pool, ...] = field(repr=False)

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def title(self) -> str:
        return self.row.title

    @property
    def bound(self) -> int | None:
        return self.row.bound

    @property
    def group(self) -> str:
        """Group of the row: runs, reports or bounds."""
        if self.row.bound is not None:
            return BOUNDS
        return RUNS if self.row.kind == "run" else REPORTS

    @property
    def topics(self) -> TopicScores:
        """Scores on each of its topics, by name."""
        return TopicScores(self)

    def of(self, metric: str) -> FloatArray:
        """The metric on every topic, NaN where undefined or not one of its topics."""
        by_topic: FloatArray = self.values[METRICS.index(metric)]
        return by_topic

    def reason(self, metric: str, topic: int) -> str:
        """Return why the metric is undefined on a topic, by index; empty if it has a value."""
        cell = METRICS.index(metric), topic
        index = int(self.reason_codes[cell])
        if index != NO_REASON:
            return self.reasons[index]
        return NO_RESULTS if self.absent[topic] and np.isnan(self.values[cell]) else ""

    def on(self, metric: str, topic: int) -> Estimate:
        """Return the metric on one of its topics, by index."""
        cell = METRICS.index(metric), topic
        reason, value = self.reason(metric, topic), float(self.values[cell])
        n, missing = int(self.n[cell]), int(self.missing[cell])
        return Estimate(None if reason else value, reason or None, n, missing)

    @property
    def sizes(self) -> FloatArray:
        """|Z| on every topic, NaN where it is not one of its topics."""
        return np.where(self.has, self.counts["n_passages"], np.nan)

    @property
    def size(self) -> tuple[float, int, int] | None:
        """|Z|: the mean over its topics, the least and the most; None without a topic."""
        sizes = self.counts["n_passages"][self.has]
        return (float(sizes.mean()), int(sizes.min()), int(sizes.max())) if len(sizes) else None

    @property
    def n_topics(self) -> int:
        """Topics with results."""
        return int(self.has.sum())

    @property
    def absent(self) -> BoolArray:
        """Topics on which there is something to find, and it has no results."""
        return self.judged & ~self.has

    @property
    def n_absent(self) -> int:
        return int(self.absent.sum())

    @property
    def absent_remark(self) -> str:
        """Remark on topics without results and their treatment; empty if all have results."""
        n = self.n_absent
        if not n:
            return ""
        topics = "topic" if n == 1 else "topics"
        return (
            f"{n} {topics} without results, {'counted as 0' if self.counts_absent else 'left out'}"
        )

    @property
    def counts_absent(self) -> bool:
        """Return True if topics without results count as 0."""
        return not np.isnan(self.values[:, self.absent]).all()

    @property
    def n_cells(self) -> int:
        """Number of pairs of its texts and answerable questions, which its values are based on."""
        return int((self.counts["n_passages"] * self.counts["n_answerable"]).sum())

    @property
    def n_unrated(self) -> int:
        """Number of these pairs without a grade: they answer nothing, so a value may be too low."""
        return int(self.counts["n_unrated_cells"].sum())

    @property
    def n_wordless(self) -> int:
        """Texts whose words are not there, and whose tokens are not known."""
        return int(self.counts["n_without_words"].sum())

    @property
    def undefined(self) -> str:
        """Common reason why all means are undefined; empty if one has a value."""
        if any(mean.value is not None for mean in self.means.values()):
            return ""
        return (self.means[METRICS[0]].reason or "").removeprefix("undefined, because ")

    @property
    def mean_ndeval(self) -> float | None:
        """The mean of what ndeval has, over the same topics; None where it is the same on all."""
        ours = self.of("alpha_ndcg")
        defined = ~np.isnan(ours)
        if np.isnan(self.ndeval[defined]).all():
            return None
        return float(np.where(np.isnan(self.ndeval), ours, self.ndeval)[defined].mean())


class TopicScores(Mapping[str, TopicScore]):
    """Lazy mapping from names of topics to a row's scores."""

    def __init__(self, of: RowScore) -> None:
        self._of = of

    def __getitem__(self, name: str) -> TopicScore:
        topic = self._of.topic_index[name]
        if not self._of.has[topic]:
            raise KeyError(name)
        return _topic_score(self._of, topic)

    def __iter__(self) -> Iterator[str]:
        return (name for name, topic in self._of.topic_index.items() if self._of.has[topic])

    def __len__(self) -> int:
        return self._of.n_topics


def _topic_score(of: RowScore, topic: int) -> TopicScore:
    pool = of.pools[topic]
    counts = {name: int(array[topic]) for name, array in of.counts.items()}
    tokens, ndeval = float(of.tokens[topic]), float(of.ndeval[topic])
    return TopicScore(
        **{metric: of.on(metric, topic) for metric in METRICS},
        texts=of.row.contexts[pool.topic][: counts["n_passages"]],
        covered=tuple(np.flatnonzero(of.covered[topic]).tolist()),
        n_answerable=counts["n_answerable"],
        n_unrated=int(of.unrated_texts[topic]),
        n_unrated_cells=counts["n_unrated_cells"],
        n_without_words=counts["n_without_words"],
        tokens=None if np.isnan(tokens) else int(tokens),
        required_subset=pool.required_names,
        required_tokens=pool.required_tokens,
        alpha_ndcg_ndeval=None if np.isnan(ndeval) else ndeval,
    )
