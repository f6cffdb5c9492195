"""Scales of words whose order is known: agreement, satisfaction, frequency, relevance."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.formats.tables.values import word_key

_NEITHER = "neutral|neither|undecided|not sure"
_AGREE = f"{_NEITHER}|neither agree nor disagree|neither disagree nor agree"
_SATISFIED = f"{_NEITHER}|neither satisfied nor dissatisfied|neither dissatisfied nor satisfied"
_LIKELY = f"{_NEITHER}|neither likely nor unlikely|neither unlikely nor likely"
_NO = "strongly disagree|completely disagree|totally disagree|fully disagree"
_YES = "strongly agree|completely agree|totally agree|fully agree"
_RATHER_NO = "somewhat disagree|slightly disagree|rather disagree|mildly disagree"
_RATHER_YES = "somewhat agree|slightly agree|rather agree|mildly agree"
_SCALES = (
    "bad < good",
    "disagree < agree",
    "dissatisfied < satisfied",
    "unlikely < likely",
    "irrelevant|not relevant|non-relevant < relevant",
    "not < partly|partially < fully",
    "no < partial < full",
    "none < partial < full",
    "low < medium < high",
    "poor < fair < good",
    "bad < ok|okay < good",
    f"disagree < {_AGREE} < agree",
    f"{_NO} < disagree < {_AGREE} < agree < {_YES}",
    f"{_NO} < {_RATHER_NO} < {_AGREE} < {_RATHER_YES} < {_YES}",
    f"{_NO} < disagree < agree < {_YES}",
    f"{_NO} < {_RATHER_NO} < {_RATHER_YES} < {_YES}",
    f"{_NO} < disagree < {_RATHER_NO} < {_AGREE} < {_RATHER_YES} < agree < {_YES}",
    f"{_NO} < disagree < {_RATHER_NO} < {_RATHER_YES} < agree < {_YES}",
    f"dissatisfied < {_SATISFIED} < satisfied",
    f"very dissatisfied|extremely dissatisfied < dissatisfied|somewhat dissatisfied < {_SATISFIED} "
    "< satisfied|somewhat satisfied < very satisfied|extremely satisfied",
    "very dissatisfied < dissatisfied|somewhat dissatisfied "
    "< satisfied|somewhat satisfied < very satisfied",
    "extremely dissatisfied|very dissatisfied < dissatisfied|moderately dissatisfied "
    f"< somewhat dissatisfied|slightly dissatisfied < {_SATISFIED} "
    "< somewhat satisfied|slightly satisfied < satisfied|moderately satisfied "
    "< extremely satisfied|very satisfied",
    f"unlikely < {_LIKELY} < likely",
    f"very unlikely|extremely unlikely < unlikely|somewhat unlikely < {_LIKELY} "
    "< likely|somewhat likely < very likely|extremely likely",
    "very unlikely < unlikely|somewhat unlikely < likely|somewhat likely < very likely",
    "extremely unlikely|very unlikely < unlikely|moderately unlikely "
    f"< somewhat unlikely|slightly unlikely < {_LIKELY} < somewhat likely|slightly likely "
    "< likely|moderately likely < extremely likely|very likely",
    "poor < fair < good < very good < excellent",
    "poor < fair < good < excellent",
    "very poor|very bad < poor|bad < fair|average|acceptable|ok|okay|neutral < good "
    "< very good|excellent",
    "never < rarely|seldom < sometimes|occasionally < often|frequently|usually < always",
    "never < sometimes < often < always",
    "never < sometimes < always",
    "never < rarely|seldom < occasionally < sometimes < often|frequently < usually|very often "
    "< always",
    "not at all < slightly|a little < moderately|somewhat < very < extremely",
    "irrelevant|not relevant|non-relevant < partially relevant|partly relevant|somewhat relevant "
    "< relevant",
    "irrelevant|not relevant|non-relevant < relevant < highly relevant|very relevant",
    "irrelevant|not relevant|non-relevant "
    "< partially relevant|partly relevant|somewhat relevant|marginally relevant "
    "< relevant < highly relevant|very relevant",
    "irrelevant|not relevant|non-relevant < related < highly relevant < perfectly relevant",
    "incorrect < partially correct|partly correct < correct",
    "no support < partial support < full support",
    "i < p < c",
)
"""Scales from the lowest level up. A level may have several words, of which a file has one."""
_LEVELS = tuple(
    tuple(tuple(level.strip().split("|")) for level in scale.split("<")) for scale in _SCALES
)


def ordered_levels(labels: Iterable[str]) -> dict[str, int] | None:
    """Return the levels of a known scale that has all labels, in any case; None without one.

    Levels are numbered from 0. A scale of as many levels as labels is preferred.
    """
    by_key = {word_key(label): label for label in labels}
    if len(by_key) < 2:
        return None
    fitting = [levels for scale in _LEVELS if (levels := _levels(scale, by_key))]
    same_size = [levels for levels in fitting if len(levels) == len(by_key)]
    return next(iter(same_size + fitting), None)


def _levels(scale: tuple[tuple[str, ...], ...], by_key: dict[str, str]) -> dict[str, int] | None:
    """Return the levels of a scale under the labels, or None where a label is not of it."""
    labels_by_level = [
        [by_key[key] for term in level if (key := word_key(term)) in by_key] for level in scale
    ]
    if sum(map(len, labels_by_level)) != len(by_key) or max(map(len, labels_by_level)) > 1:
        return None
    names = [
        labels[0] if labels else level[0]
        for labels, level in zip(labels_by_level, scale, strict=True)
    ]
    return {name: grade for grade, name in enumerate(names)}
