"""Steps that rank by the grades of a judge."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.models import Topic
from building.retrieval.fusion import by_coverage, by_sum
from building.retrieval.recipe import RecipeError
from building.steps.options import AGGREGATE, ETA, JUDGE
from building.steps.recipe_context import Ranking, RecipeContext


class _Rated:
    """Base of steps that read grades: the judge's pools, and their provenance."""

    def __init__(self, step: str, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        judge = JUDGE.words(options)
        if not judge:
            raise RecipeError("This step reads grades of a judge: add judge=NAME.")
        eta = ETA.read(step, options)
        self.pools = kitchen.pools(judge, eta)
        digest = hashlib.sha256()
        for pool in self.pools.values():
            # Grades of passages only: grades of reports do not affect a ranking.
            rated = np.isin(pool.rated_texts, kitchen.passages)
            digest.update(pool.rated_texts[rated].tobytes() + pool.rated_grades[rated].tobytes())
        self.made_from: dict[str, Any] = {
            "judge": judge,
            "eta": eta,
            "grades": digest.hexdigest()[:16],
        }


class ByRatingsStep(_Rated):
    """by_ratings(judge=NAME, aggregate=sum|coverage, eta=3): the ranking before it, by a judge's grades."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        super().__init__("by_ratings", kitchen, options)
        self.made_from["aggregate"] = AGGREGATE.read("by_ratings", options)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        pool = self.pools[topic.pk]
        keys = [text for text, _ in before.texts]
        grades = pool.context(keys)
        if self.made_from["aggregate"] == "sum":
            return before.reordered(by_sum(keys, grades))
        return before.reordered(by_coverage(keys, grades, pool.eta))


class RequiredStep(_Rated):
    """required(judge=NAME, eta=3): the required subset of each topic, Z*, in the order of its making."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        super().__init__("required", kitchen, options)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        keys = self.pools[topic.pk].required_texts
        return Ranking([(key, float(len(keys) - index)) for index, key in enumerate(keys)])
