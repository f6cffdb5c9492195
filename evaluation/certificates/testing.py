"""Test of a judge against people: the parameters, and the certificate that is stored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction

from annotation.models import Dataset, Rater, Rubric, User
from evaluation.certificates.assessment import Parameters, RefusedError, assess
from evaluation.data.certificates import TestedRatings, fingerprint_of, rubric_hash
from evaluation.data.columns import independent
from evaluation.data.ratings import load
from evaluation.data.selection import Selection, select
from evaluation.models import Certificate

EPSILON = 0.15
AGREEMENT_MARGIN = 0.1
BIAS_SHARE = 0.05  # of the range of grades
LIMITS: Mapping[str, tuple[float, float]] = {
    "epsilon": (0.0, 1.0),
    "agreement_margin": (0.001, 1.0),
    "bias_margin": (0.001, 1000.0),
}
LABELS = {
    "epsilon": "Margin ε",
    "agreement_margin": "Margin of agreement",
    "bias_margin": "Margin of bias",
}


@dataclass(frozen=True)
class JudgeTest:
    """Selection of people and a judge, with the parameters of a test of the judge."""

    selection: Selection
    parameters: Parameters

    def store(self, by: User | None) -> Certificate:
        """Test the judge, and store the result, passed or not.

        Raises RefusedError, also if a person was renamed or removed during the test.
        """
        selection = self.selection
        dataset, judge = selection.dataset, selection.judge
        if judge is None:
            raise RefusedError(
                "Choose a judge: a model or a baseline that people can be compared with."
            )
        ratings = TestedRatings(load(selection))
        result = assess(ratings, self.parameters)
        certificate = Certificate(
            dataset=dataset,
            judge_id=judge.pk,
            rubric=selection.rubric,
            is_certified=result["passes"],
            parameters=self.as_json(),
            result=result,
            fingerprint=fingerprint_of(judge.pk),
            rubric_hash=rubric_hash(dataset, selection.rubric),
            data_hash=ratings.data_hash(),
            grade_digests=ratings.grade_digests(),
            text_digests=ratings.text_digests(),
            created_by=by,
        )
        with transaction.atomic():
            self._lock_people()
            certificate.save()
        return certificate

    def _lock_people(self) -> None:
        """Lock the people of the test: a rename changes only the certificates that are stored."""
        names = {rater.pk: rater.name for rater in self.selection.raters}
        raters = Rater.objects.select_for_update(no_key=True).filter(pk__in=names).order_by("pk")
        if dict(raters.values_list("pk", "name")) != names:
            raise RefusedError("A person was renamed or removed during the test. Repeat it.")

    def as_json(self) -> dict[str, Any]:
        """Return people and parameters as a certificate has them."""
        selection = self.selection
        people = sorted(rater.name for rater in selection.raters)
        has_all_people = set(selection.raters) == set(independent(selection.everyone))
        # With one scale eta changes nothing, and its default may change.
        eta = None if selection.one_scale else selection.eta
        return {
            "people": people,
            "all_people": has_all_people,
            "eta": eta,
            **asdict(self.parameters),
        }


def default_bias_margin(rubric: Rubric, *, one_scale: bool) -> float:
    """Return 5 % of the range of grades; people and judge on two scales are read as 0 and 1."""
    grades = rubric.grades() if one_scale else [0, 1]
    return BIAS_SHARE * (grades[-1] - grades[0])


def judge_test(
    dataset: Dataset,
    *,
    rubric: str,
    judge: str,
    people: Sequence[str] = (),
    eta: str | int | None = None,
    numbers: Mapping[str, float | str | None] | None = None,
) -> JudgeTest:
    """Return the test of a judge under a rubric against people, by default against all.

    `numbers` are epsilon and margins by their names in Parameters; a missing one has its default.
    Raises SelectionError for names that do not exist, RefusedError for a number out of its limits.
    """
    selection = select(dataset, rubric=rubric, raters=people, judge=judge, eta=eta)
    values = {name: value for name, value in (numbers or {}).items() if value not in (None, "")}
    defaults = {
        "epsilon": EPSILON,
        "agreement_margin": AGREEMENT_MARGIN,
        "bias_margin": default_bias_margin(selection.rubric, one_scale=selection.one_scale),
    }
    checked = {name: _number(name, value) for name, value in (defaults | values).items()}
    return JudgeTest(selection, Parameters(**checked))


def _number(name: str, value: float | str | None) -> float:
    low, high = LIMITS[name]
    try:
        number = float(value or 0)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise RefusedError(f"{LABELS[name]}: give a number from {low:g} to {high:g}, not {value}.")
    return number


def has_seen_results(certificate: Certificate) -> bool:
    """Return whether its parameters were chosen after a result was seen.

    The first test of a judge, rubric and dataset sets them. Who tests against all people chooses nobody, also
    where there are more people by now.
    """
    tests = Certificate.objects.filter(
        dataset=certificate.dataset_id, judge=certificate.judge_id, rubric=certificate.rubric_id
    ).order_by("pk")
    first = next(iter(tests.values_list("parameters", flat=True)))
    return _choices(first) != _choices(certificate.parameters)


def _choices(parameters: Mapping[str, Any]) -> dict[str, Any]:
    people = None if parameters["all_people"] else parameters["people"]
    return {**parameters, "people": people}
