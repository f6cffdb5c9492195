"""Content of the pages of certificates: the list of judges, and one judge under a rubric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from annotation.models import Dataset, Rating, Rubric
from evaluation.certificates.assessment import RefusedError, check_ratings, failed_parts
from evaluation.certificates.methods import decision, methods_sentences
from evaluation.certificates.testing import JudgeTest, has_seen_results
from evaluation.data.campaign_price import price_of
from evaluation.data.certificates import (
    CertificateState,
    TestedRatings,
    certificate_state,
    state_of,
)
from evaluation.data.columns import Column
from evaluation.data.ratings import load
from evaluation.data.selection import Selection, select
from evaluation.models import Certificate
from evaluation.stats.estimate import Estimate

LEVEL = 0.05  # of the tests of equivalence
VERDICTS = {True: "passes", False: "not shown", None: "not tested"}


@dataclass(frozen=True)
class JudgeRow:
    """A judge under a rubric, and its state."""

    rubric: Rubric
    judge: Column
    state: CertificateState


def judge_rows(dataset: Dataset) -> Iterator[JudgeRow]:
    """Yield the judges of each rubric, by its title; cached look-ups."""
    used = Rating.objects.of_dataset(dataset).order_by().values("rubric")
    for rubric in Rubric.objects.filter(pk__in=used).order_by("title"):
        if not rubric.is_multi_label:
            for judge in judges_of(select(dataset, rubric=rubric.slug)):
                yield JudgeRow(rubric, judge, certificate_state(dataset, judge.pk, rubric.pk))


def judges_of(selection: Selection) -> list[Column]:
    """Return the judges of people under a rubric, and those without common pairs."""
    judges = {judge.pk: judge for judge in selection.judges}
    uncompared = [
        rater for rater in selection.everyone if rater.is_judge and rater.pk not in judges
    ]
    return [*judges.values(), *uncompared]


@dataclass(frozen=True)
class Missing:
    """Labels that are missing for a pass: pairs, each graded by so many people."""

    n_topics: int
    n_pairs: int
    n_people: int
    minutes: int | None
    pay: Decimal | None
    currency: str


@dataclass(frozen=True)
class CertificatePage:
    """A stored certificate for display."""

    certificate: Certificate
    state: CertificateState

    @property
    def decision(self) -> str:
        return decision(self.certificate)

    @property
    def methods(self) -> str:
        return " ".join(methods_sentences(self.certificate))

    @property
    def result(self) -> dict[str, Any]:
        result: dict[str, Any] = self.certificate.result
        return result

    @cached_property
    def chosen_after_result(self) -> bool:
        return has_seen_results(self.certificate)

    @property
    def failed_parts(self) -> list[str]:
        return list(failed_parts(self.result)) if self.certificate.is_certified else []

    @property
    def people(self) -> list[dict[str, Any]]:
        return [
            row | {"estimate": _difference(row), "verdict": VERDICTS[row["passes"]]}
            for row in self.result["people"]
        ]

    @property
    def agreement(self) -> Estimate:
        return Estimate(**self.result["agreement"]["difference"])

    @property
    def agreement_verdict(self) -> str:
        """Return the result of the tests of equivalent agreement."""
        agreement = self.result["agreement"]
        margin = f"{agreement['margin']:g}"
        if agreement["p_equivalent"] is None:
            return "no test of equivalence"
        if agreement["p_equivalent"] < LEVEL:
            return f"equivalent within {margin}"
        if agreement["p_not_worse"] < LEVEL:
            return f"not worse by {margin}"
        return f"not shown to be equivalent within {margin}"

    @property
    def bias(self) -> Estimate:
        return Estimate(**self.result["bias"]["estimate"])

    @property
    def bias_rows(self) -> list[dict[str, Any]]:
        return [
            row | {"estimate": Estimate(**row["estimate"])}
            for row in self.result["bias"]["systems"]
        ]

    @property
    def n_passed_slices(self) -> int:
        return sum(bool(row["passes"]) for row in self.result["slices"])

    @property
    def n_tested_slices(self) -> int:
        return sum(row["passes"] is not None for row in self.result["slices"])

    @property
    def share_without_judge(self) -> float:
        n_pairs: int = self.result["n_pairs"]
        n_without: int = self.result["n_without_judge"]
        return n_without / (n_pairs + n_without)

    @cached_property
    def missing(self) -> Missing | None:
        """Labels that are missing for a pass; None if it passed, or if more do not help."""
        needed = self.result["needed"]
        if not needed or needed["n_pairs"] is None:
            return None
        n_people = len(self.certificate.parameters["people"])
        price = price_of(
            self.certificate.dataset, self.certificate.rubric_id, needed["n_pairs"] * n_people
        )
        return Missing(
            *(needed["n_topics"], needed["n_pairs"], n_people),
            *(price.minutes, price.pay, price.currency),
        )

    @cached_property
    def history(self) -> list[tuple[Certificate, CertificateState]]:
        """All tests of this judge and rubric with their states, the newest first."""
        certificate = self.certificate
        tests = certificate.dataset.certificates.filter(
            judge=certificate.judge_id, rubric=certificate.rubric_id
        )
        return [
            (test, self.state if test.pk == certificate.pk else state_of(test))
            for test in tests.select_related("dataset", "judge", "rubric", "created_by")
        ]


def _difference(row: dict[str, Any]) -> Estimate:
    if row["difference"] is None:
        return Estimate(None, row["reason"], row["n_pairs"])
    return Estimate(row["difference"], None, row["n_pairs"], 0, row["low"], row["high"])


def count_tested(test: JudgeTest) -> tuple[int, int, str]:
    """Return the number of testable pairs and topics, and why no test is possible."""
    ratings = TestedRatings(load(test.selection))
    try:
        check_ratings(ratings)
    except RefusedError as refused:
        return 0, 0, str(refused)
    return int(ratings.mask.sum()), len(ratings.topics), ""
