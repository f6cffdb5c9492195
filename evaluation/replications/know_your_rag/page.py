"""Recall of two fused runs by question type, at each weight of the lexical run.

Source: Know Your RAG (de Lima et al., 2024), section 5. A question counts if its topic is ranked by one of
the runs and its gold context is known; texts of the same words are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.models import SubQuestion
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey, Key
from evaluation.data.question_kinds import questions_of
from evaluation.metrics.fusion import sums_of_ranks, sums_of_scores
from evaluation.metrics.ranking import recall
from evaluation.replications.know_your_rag.gold import Gold, gold_of
from evaluation.replications.know_your_rag.query import ByTypeQuery, How
from evaluation.replications.know_your_rag.rankings import Ranking, distinct, names, rankings
from evaluation.stats.clusters import share
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

INCLUSIVE = "inclusive"
NOTHING = "undefined, because no question of this type has a gold context and a ranking"


@dataclass(frozen=True)
class TypeRow:
    """Questions of one type, or all (grade None), and the recall at each weight."""

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
        """Index of the best weight: the smallest with the highest recall; None if undefined."""
        values = [estimate.value for estimate in self.recall]
        defined = [value for value in values if value is not None]
        return values.index(max(defined)) if defined else None


@dataclass(frozen=True)
class ByType:
    """Numbers of the page. Filtered questions are counted, and in no row."""

    rows: tuple[TypeRow, ...]
    n_untyped: int
    n_filtered: int
    n_without_gold: int
    n_unranked: int


def by_type(choice: ByTypeQuery) -> ByType:
    """The numbers of a state of the page, kept until the data change."""
    key: Key = (CacheKey.BY_QUESTION_TYPE, *choice.cache_key)
    return cached(choice.dataset, key, lambda: _by_type(choice))


def _by_type(choice: ByTypeQuery) -> ByType:
    dataset = choice.dataset
    all_questions = SubQuestion.objects.filter(topic__dataset=dataset)
    topic_of_question = dict(
        all_questions.filter(filtered_because="").order_by("pk").values_list("pk", "topic_id")
    )
    gold = gold_of(dataset, choice.gold, topic_of_question)
    values, is_ranked = _recalls(choice, topic_of_question, gold)
    questions = np.array(list(topic_of_question), np.int64)
    topics = np.array(list(topic_of_question.values()), np.int64)
    typed: set[int] = set()
    rows = [TypeRow(INCLUSIVE, None, _means(values, topics))]
    for kind in choice.kinds:
        of_kind = questions_of(dataset, kind)
        typed |= of_kind
        of_type = np.isin(questions, list(of_kind))
        rows.append(TypeRow(kind.label, kind.grade, _means(values[of_type], topics[of_type])))
    return ByType(
        tuple(rows),
        n_untyped=len(topic_of_question.keys() - typed),
        n_filtered=all_questions.exclude(filtered_because="").count(),
        n_without_gold=len(topic_of_question) - len(gold),
        n_unranked=int((~is_ranked).sum()),
    )


def _recalls(
    choice: ByTypeQuery, topic_of_question: Mapping[int, int], gold: Gold
) -> tuple[FloatArray, np.ndarray]:
    """Return the recall of each question at each weight, NaN where missing.

    Also a mask of the questions that are ranked at all.
    """
    with_scores = choice.how != "rrf"
    runs = [
        rankings(choice.dataset, run, with_scores=with_scores)
        for run in (choice.lexical, choice.dense)
    ]
    text_keys = {text for run in runs for ranking in run.values() for text, _ in ranking}
    name_of = names(choice.dataset, text_keys.union(*gold.values()))
    named_runs = [
        {topic: distinct(ranking, name_of) for topic, ranking in run.items()} for run in runs
    ]
    values = np.full((len(topic_of_question), len(choice.weights)), np.nan)
    is_ranked = np.array(
        [any(topic in run for run in runs) for topic in topic_of_question.values()], bool
    )
    for index, (question, topic) in enumerate(topic_of_question.items()):
        if is_ranked[index] and question in gold:
            right = {name_of[text] for text in gold[question]}
            both = [run.get(topic, []) for run in named_runs]
            values[index] = [
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
