"""Input schemas of the golden cases by family of metrics, validated by pydantic."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def _equal_rows(rows: list[list[float | None]]) -> list[list[float | None]]:
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the rows of a matrix have the same length")
    return rows


Ratings = list[float | None]
Matrix = Annotated[list[Ratings], AfterValidator(_equal_rows)]
Cutoff = Annotated[int, Field(ge=0)]


class CaseInput(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Coverage(CaseInput):
    Z: Matrix
    P_star: Matrix | None
    eta: float
    answerable_eta: float
    answerable: list[int] | None = None

    @model_validator(mode="after")
    def _questions(self) -> Coverage:
        if (self.P_star is None) == (self.answerable is None):
            raise ValueError("either P_star or answerable says which questions are answerable")
        return self


class AlphaNdcg(CaseInput):
    docs: dict[str, Ratings]
    ranking: list[str]
    p_star: list[str]
    z_star_ranking: list[str]
    eta: float
    alpha: Annotated[float, Field(ge=0, le=1)]
    cutoff: Cutoff

    @model_validator(mode="after")
    def _check_docs(self) -> AlphaNdcg:
        _equal_rows(list(self.docs.values()))
        unknown = {*self.ranking, *self.p_star, *self.z_star_ranking} - set(self.docs)
        if unknown:
            raise ValueError(f"docs has no ratings of {', '.join(sorted(unknown))}")
        return self


class Density(CaseInput):
    coverage: float | None
    tokens: float
    oracle_coverage: float | None
    oracle_tokens: float
    w: float


class RequiredSubset(CaseInput):
    P_star: Matrix
    eta: float


class RankMetrics(CaseInput):
    ranking: list[str]
    relevance: dict[str, Annotated[int, Field(ge=0)]]
    cutoff: Cutoff


class Answers(CaseInput):
    reference: str | None
    generated: str | None


class RagQuestEval(CaseInput):
    items: list[Answers]


class RelRelPrime(CaseInput):
    output: list[str]
    rel: list[str]
    seen: list[str]


class ThresholdTopic(CaseInput):
    P_star: Matrix
    contexts: list[Matrix]
    final: Annotated[Matrix, Field(min_length=1)]


class ThresholdAnalysis(CaseInput):
    topics: list[ThresholdTopic]
    etas: list[float]


Values = list[float]
Resamples = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1)]


class AnnotatorVsMajority(CaseInput):
    annotators: Matrix
    llm: Ratings
    labels: Values


class ClusterBootstrap(CaseInput):
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
        fits = {"mean": widths == {0}, "pearson": widths == {2}}
        if widths and not fits.get(self.statistic, one_width and widths != {0}):
            raise ValueError(f"the items of all clusters have the width of a {self.statistic}")
        return self


class Draws(CaseInput):
    seed: int
    n: Annotated[int, Field(ge=1)]
    draws: Annotated[int, Field(ge=0)]


class CohenKappa(CaseInput):
    a: Ratings
    b: Ratings
    labels: Values


class ConfusionAtEta(CaseInput):
    human: Ratings
    llm: Ratings
    eta: float


class Correlation(CaseInput):
    x: Ratings
    y: Ratings


class FleissKappa(CaseInput):
    counts: Matrix


class JudgeSwap(CaseInput):
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


class KrippendorffAlpha(CaseInput):
    ratings: Matrix


class PairedRandomisation(CaseInput):
    differences: Values


class PpiMean(CaseInput):
    human: Ratings
    llm_on_human: Ratings
    llm_unlabelled: Ratings
    lam: Annotated[float, Field(ge=0, le=1)] | None


class RboExt(CaseInput):
    a: list[str]
    b: list[str]
    p: Share


class AltTest(CaseInput):
    judge: Ratings
    people: Matrix
    scoring: Literal["accuracy", "neg_rmse"]
    epsilon: float
    q: Share
    min_people: Annotated[int, Field(ge=2)]
    min_items: Annotated[int, Field(ge=2)]
    topics: list[str | int] | None

    @model_validator(mode="after")
    def _lengths(self) -> AltTest:
        lengths = {len(self.judge), *map(len, self.people)}
        if len(lengths) > 1 or (self.topics is not None and len(self.topics) != len(self.judge)):
            raise ValueError("judge, people and topics have one value for each item")
        return self


class Equivalence(CaseInput):
    a: Values
    b: Values
    margin: Annotated[float, Field(gt=0)]
    alpha: Share

    @model_validator(mode="after")
    def _pairs(self) -> Equivalence:
        if len(self.a) != len(self.b):
            raise ValueError("a and b have one value for each topic")
        return self


# JSON has no tuples.
TextRow = Annotated[tuple[str, Annotated[float, Field(gt=0)], float, float], Field(strict=False)]


class LengthBias(CaseInput):
    rows: Annotated[list[TextRow], Field(min_length=1)]
    alpha: Share


Grid = Annotated[int, Field(ge=1)]


class ConfidenceSequence(CaseInput):
    x: Values
    alpha: Share
    method: Literal["betting", "empirical_bernstein"]
    N: Annotated[int, Field(ge=1)] | None
    grid: Grid | None


class AssistedSequence(CaseInput):
    judge_all: Annotated[Values, Field(min_length=1)]
    sample: list[Annotated[int, Field(ge=0)]] = Field(alias="drawn")
    people: Values
    alpha: Share
    bound: Annotated[float, Field(gt=0)]
    width: Annotated[float, Field(gt=0)] | None
    grid: Grid

    @model_validator(mode="after")
    def _units(self) -> AssistedSequence:
        if len(self.sample) != len(self.people) or len(set(self.sample)) != len(self.sample):
            raise ValueError("people have one value for each drawn unit, and none is drawn twice")
        if self.sample and max(self.sample) >= len(self.judge_all):
            raise ValueError("drawn units are among those of the judge")
        return self


class JudgeDrift(CaseInput):
    earlier: Values = Field(alias="then")
    later: Values = Field(alias="now")
    levels: Annotated[int, Field(ge=2)]
    alpha: Share


Verdict = Literal["first", "second", "tie"]


class PositionBias(CaseInput):
    rows: list[Annotated[tuple[Verdict, Verdict], Field(strict=False)]]


class Anchoring(CaseInput):
    grades: Values
    judge: Values
    with_judge: list[bool] = Field(alias="shown")
    raters: list[str | int]
    alpha: Share

    @model_validator(mode="after")
    def _lengths(self) -> Anchoring:
        if len({len(self.grades), len(self.judge), len(self.with_judge), len(self.raters)}) > 1:
            raise ValueError("grades, judge, shown and raters have one value for each grade")
        return self


OwnRow = Annotated[tuple[str, Annotated[int, Field(ge=0, le=1)], float, float], Field(strict=False)]
Choice = Annotated[int, Field(ge=0, le=1)]


class SelfPreference(CaseInput):
    rows: list[OwnRow]
    alpha: Share


class EqualOpportunity(CaseInput):
    rows: list[Annotated[tuple[Choice, Choice], Field(strict=False)]]
