"""Ranking of judges by agreement with people, on the pairs that all of them graded.

Grades belong to evaluation; failures, tokens and cost to judging: only the site may import both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Count, F, FloatField, Sum
from django.db.models.functions import Cast

from annotation.models import Dataset, User
from evaluation.agreement.judge import AgainstJudge, against
from evaluation.agreement.judges import select_judge
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey, Key
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection, one_of
from evaluation.stats.estimate import Estimate
from judging.grading.labels import failure_label
from judging.models import Attempt, Batch, Judge

LEAST_SHARE = (
    0.5  # of the rated pairs: by default a judge that graded fewer does not narrow the others
)


@dataclass(frozen=True)
class JudgeUsage:
    """Replies of a judge on a dataset: failures by kind, tokens, and cost."""

    judge: Judge
    failures: Sequence[tuple[str, int]]
    """Why there is no grade, in words, and how many, the most frequent first."""
    n_replies: int
    tokens: int
    money: Sequence[tuple[str, float]]
    """By currency."""

    @property
    def n_failed(self) -> int:
        return sum(n for _, n in self.failures)

    @property
    def tokens_per_reply(self) -> float | None:
        return self.tokens / self.n_replies if self.tokens and self.n_replies else None


@dataclass(frozen=True)
class RankedJudge:
    """Judge against people on the common pairs; `rank` is None if the agreement is undefined."""

    column: Column
    rank: int | None
    agreement: Estimate
    scores: AgainstJudge
    n_pairs: int
    """Rated pairs that it graded, common or not."""


@dataclass(frozen=True)
class JudgeRanking:
    """The judges of a selection on the pairs that each of them and at least one rater graded.

    `left_out` are those left out, with the number of rated pairs that they graded. `measure` is the name of
    the agreement that they are ranked by: quadratic kappa on one ordered scale, else Cohen's kappa.
    Intervals: jackknife over topics.
    """

    measure: str
    judges: Sequence[RankedJudge]
    left_out: Sequence[tuple[Column, int]]
    n_rated: int
    n_common: int
    n_topics: int


def ranking_of(selection: Selection, judge_names: Sequence[str] = ()) -> JudgeRanking:
    """Rank the judges of these names, by default those that graded half of the rated pairs.

    Kept until the data change. Raises SelectionError for a name that is no judge of the selection.
    """
    for name in judge_names:
        one_of("judge", name, (judge.name for judge in selection.judges))
    names = tuple(sorted(set(judge_names)))
    key: Key = (CacheKey.JUDGE_RANKING, replace(selection, judge=None).key, names)
    return cached(selection.dataset, key, lambda: _ranking(selection, names))


def _ranking(selection: Selection, names: tuple[str, ...]) -> JudgeRanking:
    loaded = [(judge, load(select_judge(selection, judge))) for judge in selection.judges]
    graded = {judge: ~np.isnan(matrix.judge) for judge, matrix in loaded}
    n_rated = loaded[0][1].n_items if loaded else load(replace(selection, judge=None)).n_items
    counts = {judge: int(is_graded.sum()) for judge, is_graded in graded.items()}
    chosen = [
        (judge, matrix)
        for judge, matrix in loaded
        if (judge.name in names if names else counts[judge] >= LEAST_SHARE * n_rated)
    ]
    common = np.logical_and.reduce([graded[judge] for judge, _ in chosen] or [np.zeros(0, bool)])
    scored = [(judge, _scores(matrix, common)) for judge, matrix in chosen]
    is_ordered = selection.one_scale and "cohen_quadratic" in selection.measures
    measure = "cohen_quadratic" if is_ordered else "cohen_kappa"
    by_agreement = sorted(
        scored,
        key=lambda pair: (-_value(getattr(pair[1], measure)), pair[0].name),
    )
    ranked = []
    for judge, scores in by_agreement:
        estimate: Estimate = getattr(scores, measure)
        better = sum(_value(getattr(rival, measure)) > _value(estimate) for _, rival in scored)
        rank = None if estimate.value is None else better + 1
        ranked.append(RankedJudge(judge, rank, estimate, scores, counts[judge]))
    chosen_judges = {judge for judge, _ in chosen}
    first = chosen[0][1] if chosen else None
    return JudgeRanking(
        measure=measure,
        judges=ranked,
        left_out=[(judge, n) for judge, n in counts.items() if judge not in chosen_judges],
        n_rated=n_rated,
        n_common=int(common.sum()),
        n_topics=len(set(first.topic[common].tolist())) if first else 0,
    )


def _scores(matrix: RatingMatrix, common: np.ndarray) -> AgainstJudge:
    """Compare the judge of a matrix with all ratings of the common pairs."""
    item, rater = np.nonzero(~np.isnan(matrix.grades) & common[:, None])
    assert matrix.selection.judge is not None
    name, title = matrix.selection.judge.name, matrix.selection.judge.title
    return against(matrix, (name, title), matrix.grades[item, rater], item)


def _value(estimate: Estimate) -> float:
    return -np.inf if estimate.value is None else estimate.value


def usage_by_rater(dataset: Dataset, user: User) -> dict[int, JudgeUsage]:
    """Return failures, tokens and cost of each judge that a user sees, by its rater."""
    judges = {judge.pk: judge for judge in Judge.objects.visible_to(user).select_related("rater")}
    counted = Attempt.objects.filter(judge__in=judges, text__dataset=dataset, counts=True)
    by_kind = counted.order_by().values_list("judge", "failure").annotate(n=Count("pk"))
    kinds: dict[int, Counter[str]] = {}
    for judge, failure, n in by_kind:
        kinds.setdefault(judge, Counter())[failure] = n
    of_runs = Batch.objects.filter(run__judge__in=judges, run__dataset=dataset, run__test="")
    batches = of_runs.order_by()
    read, written = Cast("prompt_tokens", FloatField()), Cast("completion_tokens", FloatField())
    money = (read * F("run__price_in") + written * F("run__price_out")) / 1_000_000.0
    tokens: Counter[int] = Counter()
    prices: dict[int, list[tuple[str, float]]] = {}
    for judge, currency, n, cost in batches.values_list("run__judge", "run__currency").annotate(
        n=Sum(F("prompt_tokens") + F("completion_tokens")), cost=Sum(money)
    ):
        tokens[judge] += n
        if cost:
            prices.setdefault(judge, []).append((currency, cost))
    return {
        judges[judge].rater_id: JudgeUsage(
            judge=judges[judge],
            failures=[(failure_label(kind), n) for kind, n in of_judge.most_common() if kind],
            n_replies=of_judge.total(),
            tokens=tokens[judge],
            money=prices.get(judge, []),
        )
        for judge, of_judge in kinds.items()
    }
