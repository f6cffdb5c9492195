"""What the cases of each family of metrics must hold; pydantic says which field does not."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def _equal_rows(rows: list[list[float | None]]) -> list[list[float | None]]:
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the rows of a matrix have the same length")
    return rows


Ratings = list[float | None]
Matrix = Annotated[list[Ratings], AfterValidator(_equal_rows)]
Cutoff = Annotated[int, Field(ge=0)]


class Given(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Coverage(Given):
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


class AlphaNdcg(Given):
    docs: dict[str, Ratings]
    ranking: list[str]
    p_star: list[str]
    z_star_ranking: list[str]
    eta: float
    alpha: Annotated[float, Field(ge=0, le=1)]
    cutoff: Cutoff

    @model_validator(mode="after")
    def _known(self) -> AlphaNdcg:
        _equal_rows(list(self.docs.values()))
        unknown = {*self.ranking, *self.p_star, *self.z_star_ranking} - set(self.docs)
        if unknown:
            raise ValueError(f"docs has no ratings of {', '.join(sorted(unknown))}")
        return self


class Density(Given):
    coverage: float | None
    tokens: float
    oracle_coverage: float | None
    oracle_tokens: float
    w: float


class RequiredSubset(Given):
    P_star: Matrix
    eta: float


class RankMetrics(Given):
    ranking: list[str]
    relevance: dict[str, Annotated[int, Field(ge=0)]]
    cutoff: Cutoff


class Answers(Given):
    reference: str | None
    generated: str | None


class RagQuestEval(Given):
    items: list[Answers]


class RelRelPrime(Given):
    output: list[str]
    rel: list[str]
    seen: list[str]


class ThresholdTopic(Given):
    P_star: Matrix
    contexts: list[Matrix]
    final: Annotated[Matrix, Field(min_length=1)]


class ThresholdAnalysis(Given):
    topics: list[ThresholdTopic]
    etas: list[float]
