"""Plans of labels with their price, and the sequence that is stored from one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.db import transaction

from annotation.errors import UserError
from annotation.models import Dataset, User
from evaluation.data.cache_keys import CacheKey, Key
from evaluation.data.campaign_price import Price, price_of
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.models import LabelSequence
from evaluation.sequences.query import PlanQuery
from evaluation.sequences.units import (
    PairKey,
    Unit,
    n_pairs,
    pair_units,
    people_values,
    topic_units,
)
from evaluation.stats.betting import ALPHA
from evaluation.stats.label_plans import (
    POWER,
    JudgedPairs,
    Need,
    decides_order,
    fixed_need,
    reaches_half_width,
    sequence_need,
)

MAX_PAIRS = 50_000  # of a population
Plan = LabelSequence.Plan


class NothingToLabelError(UserError):
    """No plan for these units; the message says why."""


@dataclass(frozen=True)
class PricedPlan:
    """Plan with the units, pairs and grades that it is expected to need."""

    plan: LabelSequence.Plan
    need: Need
    n_pairs: int
    n_grades: int
    price: Price

    @property
    def label(self) -> str:
        return str(self.plan.label).capitalize()


@dataclass(frozen=True)
class Plans:
    """Both plans for a question, over the same units."""

    query: PlanQuery
    units: Sequence[Unit]
    pairs: JudgedPairs
    fixed: PricedPlan
    sequence: PricedPlan

    @property
    def n_units(self) -> int:
        return len(self.units)

    @property
    def n_pairs(self) -> int:
        return len(self.pairs.unit)

    @cached_property
    def n_observed(self) -> int:
        """Pairs with grades of people beside the judge's."""
        return int((~np.isnan(self.pairs.errors)).sum())

    @property
    def error_rate(self) -> float:
        return self.pairs.error_rate(self.query.error_rate)

    @property
    def judge_value(self) -> float:
        return float(self.pairs.judge_values.mean())

    def __iter__(self) -> Iterator[PricedPlan]:
        return iter((self.fixed, self.sequence))


def plans_for(query: PlanQuery) -> Plans:
    """Return both plans; cached until the next write. Raises NothingToLabelError."""
    key: Key = (CacheKey.LABEL_PLANS, query.selection.key, query.cache_key)
    return SHARED_CACHE.until_db_write(key, lambda: _plans(query))


def _plans(query: PlanQuery) -> Plans:
    units = _units(query)
    selection = query.selection
    values = people_values(query.dataset, selection.rubric, selection.eta)
    pairs = _judged_pairs(units, values)
    if query.is_order:
        stop, power = decides_order(query.target), POWER
        observed = pairs.errors[~np.isnan(pairs.errors)]
        difference = float(pairs.judge_values.mean())
        reach = max(abs(difference), query.target) if len(observed) else query.target
    else:
        stop, power, reach = reaches_half_width(query.target), 0.0, query.target
    needs = {
        Plan.FIXED: fixed_need(pairs, half_width=reach, assumed_rate=query.error_rate, power=power),
        Plan.SEQUENCE: sequence_need(
            pairs, bound=query.bound, stop=stop, assumed_rate=query.error_rate
        ),
    }
    fixed, sequence = (_priced(query, plan, need, units) for plan, need in needs.items())
    return Plans(query, units, pairs, fixed, sequence)


def _units(query: PlanQuery) -> list[Unit]:
    if query.selection.judge is None:
        raise NothingToLabelError("No judge has graded the reports of this dataset.")
    if query.is_order:
        if "" in (query.system, query.other_system) or query.system == query.other_system:
            raise NothingToLabelError("Choose two different systems to decide between.")
        units = topic_units(query.selection, query.system, query.other_system)
        noun = "topics in which the judge graded all reports of both systems"
    else:
        units = pair_units(query.selection, query.system)
        noun = "pairs that the judge graded"
    if len(units) < 2:
        raise NothingToLabelError(f"A plan needs two {noun}.")
    if n_pairs(units) > MAX_PAIRS:
        raise NothingToLabelError(
            f"A plan takes {MAX_PAIRS:,} pairs, and these are {n_pairs(units):,}: choose a system."
        )
    return units


def _judged_pairs(units: Sequence[Unit], values: Mapping[PairKey, float]) -> JudgedPairs:
    rows = [
        (
            number,
            pair.weight,
            pair.judge,
            values.get((pair.text, pair.question), np.nan) - pair.judge,
        )
        for number, unit in enumerate(units)
        for pair in unit.pairs
    ]
    unit, weights, judge, errors = (np.array(column) for column in zip(*rows, strict=True))
    return JudgedPairs(unit.astype(np.int64), weights, judge.astype(np.float64), errors)


def _priced(
    query: PlanQuery, plan: LabelSequence.Plan, need: Need, units: Sequence[Unit]
) -> PricedPlan:
    pairs = round(need.median * n_pairs(units) / len(units))
    grades = pairs * query.people
    price = price_of(query.dataset, query.selection.rubric.pk, grades)
    return PricedPlan(plan, need, pairs, grades, price)


@transaction.atomic
def store(plans: Plans, plan: LabelSequence.Plan, by: User) -> LabelSequence:
    """Store a sequence in a new random order, or return the one of the same question.

    A second order of the same units would be a second chance, so two presses store one sequence. Raises
    NothingToLabelError if the units have changed.
    """
    query, selection = plans.query, plans.query.selection
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=query.dataset.pk)
    if _units(query) != plans.units:
        raise NothingToLabelError("The reports or the judge’s grades changed meanwhile. Try again.")
    assert selection.judge is not None
    assert selection.eta is not None  # else the choice was refused
    question = {
        "rubric": selection.rubric,
        "judge_id": selection.judge.pk,
        "eta": selection.eta,
        "kind": query.kind,
        "plan": plan,
        "system": query.system,
        "other_system": query.other_system,
        "target": query.target,
        "n_people": query.people,
    }
    unordered = sorted(unit.as_json() for unit in plans.units)
    for sequence in dataset.label_sequences.filter(**question):
        if sorted(sequence.units) == unordered:
            return sequence
    seed = secrets.randbits(32)
    order = np.random.default_rng(seed).permutation(len(plans.units)).tolist()
    need = plans.fixed.need if plan == Plan.FIXED else plans.sequence.need
    return LabelSequence.objects.create(
        dataset=dataset,
        **question,
        alpha=ALPHA,
        n_planned=need.median if plan == Plan.FIXED else need.worst_tenth,
        seed=seed,
        units=[plans.units[index].as_json() for index in order],
        created_by=by,
    )
