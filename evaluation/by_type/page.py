"""Recall of two joined runs by the type of the question, at every weight of the lexical one.

Source: Know Your RAG (de Lima et al., 2024), section 5. A question counts if its topic is ranked by one of
the runs and its gold context is known; texts of the same words are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.models import SubQuestion
from evaluation.by_type.gold import Gold, gold_of
from evaluation.by_type.params import ByTypeChoice, How
from evaluation.by_type.rankings import Ranking, distinct, names, rankings
from evaluation.data.cache import cached
from evaluation.data.question_kinds import questions_of
from evaluation.metrics.fusion import sums_of_ranks, sums_of_scores
from evaluation.metrics.ranking import recall
from evaluation.stats.clusters import share
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

INCLUSIVE = "inclusive"
NOTHING = "undefined, because no question of this type has a gold context and a ranking"


@dataclass(frozen=True)
class TypeRow:
    """The questions of one type, or all (grade None), and the recall at each weight."""

    name: str
    grade: int | None
    recall: tuple[Estimate, ...]

    @property
    def n(self) -> int:
        return self.recall[0].n

    @property
    def missing(self) -> int:
        return self.recall[0].missing

    @cached_property
    def best(self) -> int | None:
        """The place of the best weight: the smallest with the highest recall. None where it is undefined."""
        values = [estimate.value for estimate in self.recall]
        known = [value for value in values if value is not None]
        return values.index(max(known)) if known else None


@dataclass(frozen=True)
class ByType:
    """The numbers of the page. Questions that are filtered are counted, and in no row."""

    rows: tuple[TypeRow, ...]
    n_untyped: int
    n_filtered: int
    n_without_gold: int
    n_unranked: int


def by_type(choice: ByTypeChoice) -> ByType:
    """The numbers of a state of the page, kept until the data change."""
    key = ("by type", *choice.params().items())
    return cached(choice.dataset, key, lambda: _by_type(choice))


def _by_type(choice: ByTypeChoice) -> ByType:
    dataset = choice.dataset
    every = SubQuestion.objects.filter(topic__dataset=dataset)
    asked = dict(every.filter(filtered_because="").order_by("pk").values_list("pk", "topic_id"))
    gold = gold_of(dataset, choice.gold, asked)
    values, is_ranked = _recalls(choice, asked, gold)
    questions, topics = np.array(list(asked), np.int64), np.array(list(asked.values()), np.int64)
    typed: set[int] = set()
    rows = [TypeRow(INCLUSIVE, None, _means(values, topics))]
    for kind in choice.kinds:
        of_kind = questions_of(dataset, kind)
        typed |= of_kind
        here = np.isin(questions, list(of_kind))
        rows.append(TypeRow(kind.word, kind.grade, _means(values[here], topics[here])))
    return ByType(
        tuple(rows),
        n_untyped=len(asked.keys() - typed),
        n_filtered=every.exclude(filtered_because="").count(),
        n_without_gold=len(asked) - len(gold),
        n_unranked=int((~is_ranked).sum()),
    )


def _recalls(
    choice: ByTypeChoice, asked: Mapping[int, int], gold: Gold
) -> tuple[FloatArray, np.ndarray]:
    """The recall of each question at each weight, NaN where it is missing; and which are ranked at all."""
    with_scores = choice.how != "rrf"
    runs = [
        rankings(choice.dataset, run, with_scores=with_scores)
        for run in (choice.lexical, choice.dense)
    ]
    wanted = {text for run in runs for ranking in run.values() for text, _ in ranking}
    stands_for = names(choice.dataset, wanted.union(*gold.values()))
    named = [
        {topic: distinct(ranking, stands_for) for topic, ranking in run.items()} for run in runs
    ]
    values = np.full((len(asked), len(choice.weights)), np.nan)
    is_ranked = np.array([any(topic in run for run in runs) for topic in asked.values()], bool)
    for place, (question, topic) in enumerate(asked.items()):
        if is_ranked[place] and question in gold:
            right = {stands_for[text] for text in gold[question]}
            both = [run.get(topic, []) for run in named]
            values[place] = [
                _recall(fused(both, weight, choice.how), right, choice.k)
                for weight in choice.weights
            ]
    return values, is_ranked


def fused(of_both: Sequence[Ranking], weight: float, how: How) -> list[str]:
    """The texts of a lexical and a dense ranking by weight x lexical + (1 - weight) x dense.

    A text that a ranking lacks has 0 there; equal ones are in the order of their names.
    """
    weights = (weight, 1 - weight)
    sums = (
        sums_of_ranks(of_both, weights=weights)
        if how == "rrf"
        else sums_of_scores(of_both, weights, how)
    )
    return sorted(sums, key=lambda name: (-sums[name], name))


def _recall(ranked: Sequence[str], right: set[str], k: int) -> float:
    value = recall([name in right for name in ranked], len(right), k).value
    assert value is not None  # there is a right one
    return value


def _means(values: FloatArray, topics: IntArray) -> tuple[Estimate, ...]:
    """The mean of each column over the questions that have one, with its interval over topics."""
    return tuple(share(column, ~np.isnan(column), topics, NOTHING) for column in values.T)
