"""Answers to the golden cases of sequences, and of biases and drift of a judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evaluation.golden import inputs
from evaluation.golden.results import Result, array, result
from evaluation.stats.betting import (
    GRID,
    ConfidenceSequence,
    assisted_sequence,
    betting_sequence,
    empirical_bernstein_sequence,
)
from evaluation.stats.cohen import cohen_kappa
from evaluation.stats.estimate import FloatArray, IntArray
from evaluation.stats.group_contrast import group_contrast
from evaluation.stats.judge_drift import judge_drift
from evaluation.stats.position_bias import position_bias


def _confidence_sequence(raw: dict[str, Any]) -> Result:
    case = inputs.ConfidenceSequence.model_validate(raw)
    if case.method == "betting":
        sequence = betting_sequence(
            case.x, alpha=case.alpha, population=case.N, grid=case.grid or GRID
        )
    else:
        sequence = empirical_bernstein_sequence(case.x, alpha=case.alpha, population=case.N)
    return _limits(sequence)


def _limits(sequence: ConfidenceSequence) -> Result:
    if not len(sequence):
        return {"value": None, "reason": "no_values"}
    return {
        "value": float(sequence.value[-1]),
        "reason": None,
        "lower": sequence.lower.tolist(),
        "upper": sequence.upper.tolist(),
    }


def _confidence_sequence_judge(raw: dict[str, Any]) -> Result:
    case = inputs.AssistedSequence.model_validate(raw)
    judge = array(case.judge_all)
    sequence = assisted_sequence(
        judge,
        array(case.people) - judge[case.sample],
        bound=case.bound,
        alpha=case.alpha,
        grid=case.grid,
    )
    return _limits(sequence) | {
        "judge_mean": float(judge.mean()),
        "stops_sign": sequence.first_outside(0.0),
        "stops_width": None if case.width is None else sequence.first_width(case.width),
    }


def _judge_drift(raw: dict[str, Any]) -> Result:
    case = inputs.JudgeDrift.model_validate(raw)
    drift = judge_drift(case.earlier, case.later, case.levels, case.alpha)
    if drift.e_values is None or drift.kappa is None:
        return {"value": None, "reason": "no_anchors"}
    return result(drift) | {
        "n": drift.n,
        "changed": drift.n_up + drift.n_down,
        "up": drift.n_up,
        "down": drift.n_down,
        "p_sign": drift.p_sign,
        "e_values": drift.e_values.tolist(),
        "largest": drift.largest,
        "alarm": drift.alarm,
        "kappa": drift.kappa.value,
    }


def _position_bias(raw: dict[str, Any]) -> Result:
    case = inputs.PositionBias.model_validate(raw)
    bias = position_bias(case.rows)
    if bias.value is None:
        return {"value": None, "reason": "no_pairs"}
    return result(bias) | {
        "interval": [bias.low, bias.high],
        "n": bias.n,
        "first_both": bias.n_first,
        "second_both": bias.n_second,
        "half": bias.n_half,
        "prefers_first": bias.prefers_first,
        "p": bias.p,
    }


def _anchoring(raw: dict[str, Any]) -> Result:
    case = inputs.Anchoring.model_validate(raw)
    with_judge = np.array(case.with_judge, dtype=bool)
    raters = _index(case.raters)
    if min(with_judge.sum(), (~with_judge).sum()) < 2 or len(np.unique(raters)) < 2:
        return {"value": None, "reason": "too_few"}
    grades, judge = array(case.grades), array(case.judge)
    agreement = group_contrast(grades == judge, with_judge, raters)
    distance = group_contrast(np.abs(grades - judge), ~with_judge, raters)
    blind = agreement.second
    ends = agreement.interval(1 - case.alpha)
    return {
        "value": agreement.value,
        "reason": None,
        "n_shown": agreement.n_first,
        "n_blind": agreement.n_second,
        "agree_shown": agreement.first,
        "agree_blind": blind,
        "se_independent": agreement.independent_error,
        "se": agreement.error,
        "raters": agreement.n_clusters,
        "interval": list(ends) if ends else None,
        "pull": distance.value,
        "pull_se": distance.error,
        "adopted": agreement.value / (1 - blind) if blind < 1 else None,
        "kappa_shown": _kappa(grades[with_judge], judge[with_judge]),
        "kappa_blind": _kappa(grades[~with_judge], judge[~with_judge]),
    }


def _kappa(grades: FloatArray, judge: FloatArray) -> float | None:
    labels = sorted({*grades.tolist(), *judge.tolist()})
    return cohen_kappa(grades, judge, labels).value if len(labels) > 1 else None


def _self_preference(raw: dict[str, Any]) -> Result:
    case = inputs.SelfPreference.model_validate(raw)
    own_family = np.array([row[1] for row in case.rows], dtype=bool)
    n_own, n_other = int(own_family.sum()), int((~own_family).sum())
    if not n_own or not n_other:
        return {"value": None, "reason": "one_family_only", "n_own": n_own, "n_other": n_other}
    topics = _index([row[0] for row in case.rows])
    judge, people = array([row[2] for row in case.rows]), array([row[3] for row in case.rows])
    bias = group_contrast(judge - people, own_family, topics)
    ends = bias.interval(1 - case.alpha)
    return {
        "value": bias.value,
        "reason": None,
        "judge_gap": float(judge[own_family].mean() - judge[~own_family].mean()),
        "people_gap": float(people[own_family].mean() - people[~own_family].mean()),
        "own_bias": bias.first,
        "other_bias": bias.second,
        "se": bias.error,
        "topics": bias.n_clusters,
        "interval": list(ends) if ends else None,
        "n_own": n_own,
        "n_other": n_other,
        **_within_topics(judge - people, own_family, topics, case.alpha),
    }


def _within_topics(values: FloatArray, own_family: Any, topics: IntArray, alpha: float) -> Result:
    """Return the mean difference over topics that have texts of both families."""
    from scipy.stats import t  # noqa: PLC0415 - a second to load

    differences = np.array(
        [
            values[own_family & (topics == topic)].mean()
            - values[~own_family & (topics == topic)].mean()
            for topic in np.unique(topics)
            if 0 < own_family[topics == topic].sum() < (topics == topic).sum()
        ]
    )
    n = len(differences)
    if n < 2:
        return {}
    mean, error = float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(n))
    reach = error * float(t.ppf(1 - alpha / 2, n - 1))
    return {
        "within_topics": mean,
        "within_se": error,
        "within_interval": [mean - reach, mean + reach],
        "topics_with_both": n,
    }


def _equal_opportunity(raw: dict[str, Any]) -> Result:
    case = inputs.EqualOpportunity.model_validate(raw)
    by_people = np.array([row[1] for row in case.rows], dtype=bool)
    by_judge = np.array([row[0] for row in case.rows], dtype=bool)
    if by_people.all() or not by_people.any():
        return {"value": None, "reason": "one_side_only"}
    hit_own, hit_other = float(by_judge[by_people].mean()), float((~by_judge[~by_people]).mean())
    return {
        "value": hit_own - hit_other,
        "reason": None,
        "hit_own": hit_own,
        "hit_other": hit_other,
        "n_own": int(by_people.sum()),
        "n_other": int((~by_people).sum()),
    }


def _index(names: list[Any]) -> IntArray:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


FAMILIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "confidence_sequence": _confidence_sequence,
    "confidence_sequence_judge": _confidence_sequence_judge,
    "judge_drift": _judge_drift,
    "position_bias": _position_bias,
    "anchoring": _anchoring,
    "self_preference": _self_preference,
    "equal_opportunity": _equal_opportunity,
}
