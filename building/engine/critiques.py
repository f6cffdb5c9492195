"""Pairs that do not hold to what somebody asks of their grades, proposed; and leaving them out, with why."""

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
"""What becomes of a pair that lacks a grade which is asked for."""
MISSING: tuple[Missing, ...] = ("stay", "go")
EXAMPLE = "stand_alone >= 4 and qa_tautology <= 2"
_PREFIX = "critique-"
_SLUGS = {each.slug.removeprefix(_PREFIX): each.slug for each in CRITIQUES}
_NAMES = {slug: name for name, slug in _SLUGS.items()}
# Raters are called anything without white space, such as llama3.3 or org/model.
_CONDITION = re.compile(r"\s*([\w-]+)(?::(\S+?))?\s*(>=|<=)\s*(\d{1,3})\s*", re.ASCII)


@dataclass(frozen=True)
class Condition:
    """What a pair has to hold to: a grade of at least, or of at most, a bound."""

    rubric: str
    rater: str
    key: int
    """Of the rater."""
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
        """What is wrong with a grade; nothing if it holds."""
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
    """What the grades say of each question of a dataset."""

    conditions: tuple[Condition, ...]
    missing: Missing
    pairs: Sequence[JudgedPair]

    @property
    def going(self) -> list[JudgedPair]:
        return [pair for pair in self.pairs if pair.because]

    @property
    def version(self) -> str:
        """The version of what is proposed: a person leaves out what they have seen, and nothing else."""
        return version_of([[pair.pk, pair.because] for pair in self.going])

    @property
    def n_lacking(self) -> int:
        return sum(pair.lacks for pair in self.pairs)


def graders_of(dataset: Dataset) -> dict[str, dict[str, Rater]]:
    """Who graded under which rubric with an order, by the rubric's name without `critique-`."""
    rated = Rating.objects.of_dataset(dataset).filter(rubric__scale="ordinal").order_by()
    names = {rater.pk: name for name, rater in raters_of(dataset).items()}
    raters = {rater.pk: rater for rater in Rater.objects.filter(pk__in=names)}
    found: dict[str, dict[str, Rater]] = defaultdict(dict)
    pairs = set(rated.values_list("rubric__slug", "rater").distinct())
    for rubric, name, rater in sorted((rubric, names[rater], rater) for rubric, rater in pairs):
        found[_NAMES.get(rubric, rubric)][name] = raters[rater]
    return found


def pair_filter(dataset: Dataset, words: str, missing: str = "stay") -> PairFilter:
    """What becomes of the pairs if these conditions are asked for: `NAME >= GRADE`, joined by `and`.

    `NAME:RATER` says whose grades count, where several graded. A question that was graded on several
    texts is taken by the grade that holds best. Raises SelectionError, which says what there is.
    """
    one_of("way with missing grades, called", missing, MISSING)
    conditions = _conditions(dataset, words)
    kept = SubQuestion.objects.with_words().filter(topic__dataset=dataset, filtered_because="")
    grades = [_grades(dataset, condition) for condition in conditions]
    pairs = []
    ordered = kept.order_by("topic__position", "topic", "position")
    for pk, topic, body in ordered.values_list("pk", "topic__name", "body"):
        own = tuple(of_one.get(pk) for of_one in grades)
        wrong = [
            condition.why(grade)
            for condition, grade in zip(conditions, own, strict=True)
            if grade is not None or missing == "go"
        ]
        pairs.append(JudgedPair(pk, topic, body, own, "; ".join(filter(None, wrong))[:200]))
    return PairFilter(conditions, "go" if missing == "go" else "stay", pairs)


def _conditions(dataset: Dataset, words: str) -> tuple[Condition, ...]:
    graders = graders_of(dataset)
    if not graders:
        raise SelectionError(
            "Nobody has graded this dataset yet under a rubric whose grades have an order."
        )
    return tuple(_condition(part, graders) for part in re.split(r"(?:^|\s)and(?:\s|$)", words))


def _condition(words: str, graders: dict[str, dict[str, Rater]]) -> Condition:
    match = _CONDITION.fullmatch(words)
    if match is None:
        raise SelectionError(f"“{words.strip()}” is no condition. One is such as: {EXAMPLE}")
    name, named, sign, bound = match.groups()
    name = one_of("grade of this dataset, called", _NAMES.get(name, name), graders)
    raters = graders[name]
    if not named and len(raters) > 1:
        listed = ", ".join(f"{name}:{rater}" for rater in raters)
        raise SelectionError(f"Several graded {name}: say whose grades count. There are: {listed}.")
    rater = one_of(f"rater of {name}, called", named or next(iter(raters)), raters)
    return Condition(_SLUGS.get(name, name), rater, raters[rater].pk, sign == ">=", int(bound))


def _grades(dataset: Dataset, condition: Condition) -> dict[int, int]:
    """By question, the grade that holds best."""
    rated = Rating.objects.of_dataset(dataset).filter(
        rater=condition.key, rubric__slug=condition.rubric
    )
    best = Max("grade") if condition.is_least else Min("grade")
    return dict(rated.order_by().values_list("question").annotate(best))


@transaction.atomic
def leave_out(dataset: Dataset, proposed: PairFilter) -> int:
    """Leave out the questions that go, each with its reason; returns how many. Grades stay as they are."""
    by_reason: dict[str, list[int]] = defaultdict(list)
    for pair in proposed.going:
        by_reason[pair.because].append(pair.pk)
    questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    return sum(
        questions.filter(pk__in=keys).update(filtered_because=because)
        for because, keys in by_reason.items()
    )
