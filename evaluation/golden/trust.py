"""Answers to the golden cases of comparisons of a judge with people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evaluation.golden import inputs
from evaluation.golden.results import Result, array, interval, result, standard_error, table
from evaluation.stats.alt_test import AltTest, PersonTest, alt_test
from evaluation.stats.equivalence import equivalence
from evaluation.stats.length_bias import length_bias

LEVEL_OF_TWO_TESTS = 0.05  # of which `equivalence` gives the interval


def _alt_test(raw: dict[str, Any]) -> Result:
    case = inputs.AltTest.model_validate(raw)
    topics = None
    if case.topics is not None:
        topics = np.unique(case.topics, return_inverse=True)[1]
    tested = alt_test(
        table(case.people, 0),
        array(case.judge),
        topics,
        epsilon=case.epsilon,
        scoring=case.scoring,
        q=case.q,
        min_people=case.min_people,
        min_items=case.min_items,
    )
    answer = result(tested) | {
        "items": tested.n,
        "per_person": [_person(person) for person in tested.people],
    }
    if tested.value is None:
        return answer
    answer |= {
        "people": tested.n_tested,
        "rho": tested.advantage,
        "passes": tested.value >= 0.5,
    }
    return answer | _clustered(tested)


def _clustered(tested: AltTest) -> Result:
    rate = tested.winning_rate_clustered
    return {} if rate is None else {"omega_clustered": rate, "passes_clustered": rate >= 0.5}


def _person(person: PersonTest) -> Result:
    if person.p is None:
        return {"n": person.n, "reason": "too_few_items"}
    answer: Result = {
        "n": person.n,
        "rho_judge": person.judge_wins,
        "rho_person": person.person_wins,
        "difference": person.difference,
        "p": person.p,
        "rejected": person.is_rejected,
    }
    if person.p_clustered is None:
        return answer
    return answer | {
        "clusters": person.clustered.n_topics if person.clustered else None,
        "p_clustered": person.p_clustered,
        "rejected_clustered": person.is_rejected_clustered,
    }


def _equivalence(raw: dict[str, Any]) -> Result:
    case = inputs.Equivalence.model_validate(raw)
    tested = equivalence(case.a, case.b, case.margin)
    if tested.p is None or tested.p_not_worse is None:
        return {"value": None, "reason": "too_few_topics", "n": tested.n}
    return result(tested) | {
        "n": tested.n,
        "se": standard_error(tested, 1 - 2 * LEVEL_OF_TWO_TESTS, tested.n),
        "p": tested.p,
        "p_not_worse": tested.p_not_worse,
        "p_not_better": tested.p_not_better,
        "equivalent": tested.p < case.alpha,
        "not_inferior": tested.p_not_worse < case.alpha,
        "interval": interval(tested),
    }


def _length_bias(raw: dict[str, Any]) -> Result:
    case = inputs.LengthBias.model_validate(raw)
    names, lengths, judge, people = (list(column) for column in zip(*case.rows, strict=True))
    topics = np.unique(names, return_inverse=True)[1]
    level = 1 - case.alpha
    slope = length_bias(judge, people, lengths, topics, level)
    if slope.value is None:
        return {"value": None, "reason": "one_length"}
    n_topics = len(set(names))
    return result(slope) | {
        "se": standard_error(slope, level, n_topics),
        "topics": n_topics,
        "interval": interval(slope),
    }


FAMILIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "alt_test": _alt_test,
    "equivalence": _equivalence,
    "length_bias": _length_bias,
}
