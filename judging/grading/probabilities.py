"""From log-probabilities of the first token to a probability for each grade of the rubric.

A server tells them by token id, for exactly the ids asked for, or by token string, for the likeliest
tokens only. What it did not tell is None and never 0, and nothing is renormalised: what the grades
lack to 1 went to tokens that are no grade.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judging.grading.parse import begins_another

# Servers write this where they have no value that JSON can hold: for -inf, and for a token that they
# did not look at. As the two cannot be told apart, it is a value that was not given.
NOT_GIVEN = -9999.0
# Log-probabilities computed in 16 bits come out above 0 by this much at most. More is no rounding: the
# server sends something else, such as logits.
ROUNDING = 0.01

_SPACES = " \t\r\nĠ▁"  # the last two are how vocabularies write the space before a word


@dataclass(frozen=True, slots=True)
class Labels:
    """What the model thought of each grade.

    `probabilities` has one entry for each grade, in ascending order of the grades: in 0..1, or None
    where the server did not tell. `label_mass` is the sum of those known, at most 1, and None if none
    is. `expected_grade` is the mean of the grades, weighted by those known; None if they have no mass.
    """

    probabilities: tuple[float | None, ...]
    expected_grade: float | None
    label_mass: float | None


def from_label_ids(
    logprobs: Mapping[int, float | None], label_ids: Sequence[int], grades: Sequence[int]
) -> Labels:
    """Labels from the natural log-probabilities by token id.

    `label_ids` are the ids of `grades`, in the same order. Other ids are passed over. -inf is the
    probability 0; NaN, None and -9999 are not given; a value a hair above 0 is the probability 1. One
    value further above 0 shows that these are no log-probabilities, and then nothing is known. Raises
    ValueError if there are not as many ids as grades.
    """
    if not _credible(logprobs.values()):
        logprobs = {}
    known = zip(grades, (_probability(logprobs.get(label)) for label in label_ids), strict=True)
    return _labels(dict(known))


def from_logprobs(
    tokens: Mapping[str, float | None]
    | Mapping[bytes, float | None]
    | Iterable[tuple[str | bytes, float | None]],
    grades: Sequence[int],
) -> Labels:
    """Labels from the natural log-probabilities by token, as strings or as their UTF-8 bytes.

    Every way of writing a grade counts: "3" and " 3" are added up, and so are two tokens of the same
    string, which pairs can hold and a mapping cannot. A grade that another one begins with, as 1 in a
    rubric to 10, is not known: the token may be the first of "10". Values are read as by
    `from_label_ids`.
    """
    pairs = list(tokens.items() if isinstance(tokens, Mapping) else tokens)
    known: dict[int, float | None] = dict.fromkeys(grades)
    if not _credible(value for _, value in pairs):
        return _labels(known)
    written = {str(grade): grade for grade in grades if not begins_another(grade, grades)}
    for token, value in pairs:
        words = token.decode("utf-8", "replace") if isinstance(token, bytes) else token
        grade = written.get(words.strip(_SPACES))
        probability = _probability(value)
        if grade is not None and probability is not None:
            known[grade] = min(1.0, (known[grade] or 0.0) + probability)
    return _labels(known)


def _credible(values: Iterable[float | None]) -> bool:
    return not any(value is not None and value > ROUNDING for value in values)


def _probability(logprob: float | None) -> float | None:
    if logprob is None or math.isnan(logprob) or logprob == NOT_GIVEN:
        return None
    return math.exp(min(0.0, logprob))


def _labels(by_grade: Mapping[int, float | None]) -> Labels:
    ascending = sorted(by_grade.items())
    known = [(grade, value) for grade, value in ascending if value is not None]
    mass = math.fsum(value for _, value in known)
    expected = None
    if mass:
        mean = math.fsum(grade * value for grade, value in known) / mass
        # Rounding may leave the grades' range. Its ends are integers, and what is written is a mean.
        expected = float(min(max(mean, known[0][0]), known[-1][0]))
    return Labels(
        probabilities=tuple(value for _, value in ascending),
        expected_grade=expected,
        label_mass=min(1.0, mass) if known else None,
    )
