"""Rank fusion step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from annotation.models import Topic
from building.retrieval.fusion import reciprocal_rank, sum_of_scores
from building.retrieval.recipe import RecipeError
from building.steps.options import BY, K, number
from building.steps.recipe_context import Ranking, RecipeContext
from evaluation.metrics.fusion import Scale

HEAVIEST = 1_000.0


class FuseStep:
    """fuse(A, B, ..., by=rrf, k=60, weights=2:1): rankings joined by 1 / (k + rank), or by their scores."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        by = BY.read("fuse", options)
        self.scale: Scale | None = None if by == "rrf" else cast(Scale, by)
        self.made_from: dict[str, Any]
        if self.scale is None:
            self.made_from = {"k": K.read("fuse", options)}
        elif "k" in options:
            raise RecipeError(
                f"fuse: k is for ranks, but by={by} joins scores: remove one of them."
            )
        else:
            self.made_from = {"by": by}
        self.weights: list[float] = []
        if "weights" in options:
            texts = options["weights"].split(":")
            self.weights = [number("fuse: each of the weights", text, HEAVIEST) for text in texts]
            self.made_from["weights"] = ":".join(f"{weight:g}" for weight in self.weights)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        if self.weights and len(self.weights) != len(parts):
            raise RecipeError(
                f"fuse: there are {len(self.weights)} weights for {len(parts)} rankings. Separate weights "
                "by “:”."
            )
        rankings = [part.texts for part in parts]
        if self.scale:
            texts = sum_of_scores(rankings, self.weights, self.scale)
        else:
            texts = reciprocal_rank(rankings, self.made_from["k"], self.weights)
        unknown = set[str]().union(*(part.unknown for part in parts))
        return Ranking(texts, unknown, sum(part.n_left_out for part in parts))
