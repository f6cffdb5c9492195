"""Filter question-answer pairs by conditions on their grades, such as critiques."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.db import transaction
from django.db.models import Max, Min

from annotation.models import Dataset, Rater, Rating, SubQuestion
from annotation.models.rating import raters_of
from annotation.models.standard import CRITIQUES
from annotation.row_versions import version_of
from evaluation.data.selection import SelectionError, one_of

Missing = Literal["stay", "go"]
"""Handling of a pair that lacks a required grade."""
MISSING: tuple[Missing, ...] = ("stay", "go")
EXAMPLE = "stand_alone >= 4 and qa_tautology <= 2"
_PREFIX = "critique-"
_SLUGS = {critique.slug.removeprefix(_PREFIX): critique.slug for critique in CRITIQUES}
_NAMES = {slug: name for name, slug in _SLUGS.items()}
# Raters are called anything without white space, such as llama3.3 or org/model.
_CONDITION = re.compile(r"\s*([\w-]+)(?::(\S+?))?\s*(>=|<=)\s*(\d{1,3})\s*", re.ASCII)


@dataclass(frozen=True)
class Condition:
    """A bound on the grade of a rubric by a rater: at least, or at most."""

    rubric: str
    rater: str
    key: int
    """Primary key of the rater."""
    is_least: bool
    bound: int

    @property
    def name(self) -> str:
        return _NAMES.get(self.rubric, self.rubric)

    @property
    def title(self) -> str:
        return f"{self.name} {'>=' if self.is_least else '<='} {self.bound}"

    def holds(self, grade: int) -> bool:
        return grade >= self.bound if self.is_least else grade <= self.bound

    def why(self, grade: int | None) -> str:
        """Describe how a grade violates the condition; "" if it holds."""
        if grade is None:
            return f"{self.name} by {self.rater} is missing"
        side = "below" if self.is_least else "above"
        return (
            ""
            if self.holds(grade)
            else f"{self.name} by {self.rater} is {grade}, {side} {self.bound}"
        )


@dataclass(frozen=True)
class JudgedPair:
    """A question that is not filtered, with its grades, one for each condition, None for none."""

    pk: int
    topic: str
    question: str
    grades: tuple[int | None, ...]
    because: str
    """Why it goes; empty where it stays."""

    @property
    def lacks(self) -> bool:
        return None in self.grades


@dataclass(frozen=True)
class PairFilter:
    """Result of a pair filter: the questions of a dataset with their grades."""

    conditions: tuple[Condition, ...]
    missing: Missing
    pairs: Sequence[JudgedPair]

    @property
    def going(self) -> list[JudgedPair]:
        return [pair for pair in self.pairs if pair.because]

    @property
    def version(self) -> str:
        """Return the version of the proposal, so that nothing unseen is filtered."""
        return version_of([[pair.pk, pair.because] for pair in self.going])

    @property
    def n_lacking(self) -> int:
        return sum(pair.lacks for pair in self.pairs)


def graders_of(dataset: Dataset) -> dict[str, dict[str, Rater]]:
    """Map each ordinal rubric (without `critique-`) to its raters by name."""
    rated = Rating.objects.of_dataset(dataset).filter(rubric__scale="ordinal").order_by()
    names = {rater.pk: name for name, rater in raters_of(dataset).items()}
    raters = {rater.pk: rater for rater in Rater.objects.filter(pk__in=names)}
    graders: dict[str, dict[str, Rater]] = defaultdict(dict)
    pairs = set(rated.values_list("rubric__slug", "rater").distinct())
    for rubric, name, rater in sorted((rubric, names[rater], rater) for rubric, rater in pairs):
        graders[_NAMES.get(rubric, rubric)][name] = raters[rater]
    return graders


def pair_filter(dataset: Dataset, expression: str, missing: str = "stay") -> PairFilter:
    """Apply conditions to the pairs: `NAME >= GRADE`, joined by `and`.

    `NAME:RATER` says whose grades count, where several graded. A question that was graded on several
    texts is taken by the grade that holds best. Raises SelectionError, which says what there is.
    """
    one_of("treatment of missing grades called", missing, MISSING)
    conditions = _conditions(dataset, expression)
    questions = SubQuestion.objects.with_words().filter(topic__dataset=dataset, filtered_because="")
    grades = [_grades(dataset, condition) for condition in conditions]
    pairs = []
    ordered = questions.order_by("topic__position", "topic", "position")
    for pk, topic, body in ordered.values_list("pk", "topic__name", "body"):
        question_grades = tuple(grades_by_question.get(pk) for grades_by_question in grades)
        violations = [
            condition.why(grade)
            for condition, grade in zip(conditions, question_grades, strict=True)
            if grade is not None or missing == "go"
        ]
        pairs.append(
            JudgedPair(pk, topic, body, question_grades, "; ".join(filter(None, violations))[:200])
        )
    return PairFilter(conditions, "go" if missing == "go" else "stay", pairs)


def _conditions(dataset: Dataset, expression: str) -> tuple[Condition, ...]:
    graders = graders_of(dataset)
    if not graders:
        raise SelectionError("This dataset has no grades under a rubric with ordered grades.")
    return tuple(_condition(part, graders) for part in re.split(r"(?:^|\s)and(?:\s|$)", expression))


def _condition(expression: str, graders: dict[str, dict[str, Rater]]) -> Condition:
    match = _CONDITION.fullmatch(expression)
    if match is None:
        raise SelectionError(f"“{expression.strip()}” is not a condition. Example: {EXAMPLE}")
    name, rater_name, sign, bound = match.groups()
    name = one_of("grade of this dataset called", _NAMES.get(name, name), graders)
    raters = graders[name]
    if not rater_name and len(raters) > 1:
        listed = ", ".join(f"{name}:{rater}" for rater in raters)
        raise SelectionError(f"Several raters graded {name}: choose one. There are: {listed}.")
    rater = one_of(f"rater of {name}, called", rater_name or next(iter(raters)), raters)
    return Condition(_SLUGS.get(name, name), rater, raters[rater].pk, sign == ">=", int(bound))


def _grades(dataset: Dataset, condition: Condition) -> dict[int, int]:
    """Return the grade that satisfies the condition best, by question."""
    rated = Rating.objects.of_dataset(dataset).filter(
        rater=condition.key, rubric__slug=condition.rubric
    )
    best = Max("grade") if condition.is_least else Min("grade")
    return dict(rated.order_by().values_list("question").annotate(best))


@transaction.atomic
def filter_out(dataset: Dataset, proposed: PairFilter) -> int:
    """Mark the failing questions as filtered, with the reason; return their number.

    Grades stay unchanged.
    """
    by_reason: dict[str, list[int]] = defaultdict(list)
    for pair in proposed.going:
        by_reason[pair.because].append(pair.pk)
    questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    return sum(
        questions.filter(pk__in=keys).update(filtered_because=because)
        for because, keys in by_reason.items()
    )
