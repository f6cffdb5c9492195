"""What the cases of each family of agreement must hold; pydantic says which field does not."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from evaluation.golden.inputs import Given, Matrix, Ratings

Values = list[float]
Resamples = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1)]


class AnnotatorVsMajority(Given):
    annotators: Matrix
    llm: Ratings
    labels: Values


class ClusterBootstrap(Given):
    clusters: list[list[float] | list[list[float]]]
    statistic: Literal["fleiss_kappa", "mean", "pearson"]
    B: Resamples
    seed: int
    level: Share
    rng: Literal["splitmix64"]
    quantile: Literal["type7"]

    @model_validator(mode="after")
    def _shapes(self) -> ClusterBootstrap:
        widths = {
            len(item) if isinstance(item, list) else 0
            for cluster in self.clusters
            for item in cluster
        }
        one_width = len(widths) == 1
        wanted = {"mean": widths == {0}, "pearson": widths == {2}}
        if widths and not wanted.get(self.statistic, one_width and widths != {0}):
            raise ValueError(f"the items of all clusters have the width of a {self.statistic}")
        return self


class Draws(Given):
    seed: int
    n: Annotated[int, Field(ge=1)]
    draws: Annotated[int, Field(ge=0)]


class CohenKappa(Given):
    a: Ratings
    b: Ratings
    labels: Values


class ConfusionAtEta(Given):
    human: Ratings
    llm: Ratings
    eta: float


class Correlation(Given):
    x: Ratings
    y: Ratings


class FleissKappa(Given):
    counts: Matrix


class JudgeSwap(Given):
    human: list[Ratings]
    judge_a: list[Ratings]
    judge_b: list[Ratings]
    labels: Values

    @model_validator(mode="after")
    def _same_topics(self) -> JudgeSwap:
        sizes = [
            [len(topic) for topic in side] for side in (self.human, self.judge_a, self.judge_b)
        ]
        if sizes[0] != sizes[1] or sizes[0] != sizes[2]:
            raise ValueError("the human and both judges have the same items in each topic")
        return self


class KrippendorffAlpha(Given):
    ratings: Matrix


class PairedRandomisation(Given):
    differences: Values


class PpiMean(Given):
    human: Ratings
    llm_on_human: Ratings
    llm_unlabelled: Ratings
    lam: Annotated[float, Field(ge=0, le=1)] | None


class RboExt(Given):
    a: list[str]
    b: list[str]
    p: Share
