"""Density of a context or report: coverage per token, against the oracle's."""

from __future__ import annotations

import math

from evaluation.stats.estimate import Estimate

NO_COVERAGE = "undefined, because a coverage is undefined"
NO_TOKENS = "undefined, because the context has no tokens"
NO_ORACLE_TOKENS = "undefined, because the oracle has no tokens"
NO_ORACLE_COVERAGE = "undefined, because the oracle covers no question"


def density(
    covered: float | None,
    tokens: float,
    oracle_covered: float | None,
    oracle_tokens: float,
    weight: float = 0.5,
) -> Estimate:
    """((covered / tokens) / (oracle_covered / oracle_tokens)) ** weight; may exceed 1.

    `covered` and `oracle_covered` are both counts of covered questions of one topic, or both
    coverages (0 to 1): only their ratio matters; None is an undefined one. `tokens` are lengths by
    one and the same tokenizer. `n` = tokens of the context, rounded. Covers nothing: 0; with a
    weight of 0: 1. Undefined if the context or the oracle has no tokens, if a coverage is undefined,
    or if the oracle covers nothing. Raises ValueError for a negative or non-finite number.
    Source: CRUX (Ju et al., 2025), section 3.3, eq. 5.
    """
    values = (covered, tokens, oracle_covered, oracle_tokens, weight)
    numbers = [number for number in values if number is not None]
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise ValueError("coverage, tokens and the weight are numbers from 0")
    n = round(tokens)
    if tokens == 0:
        return Estimate(None, NO_TOKENS, n)
    if oracle_tokens == 0:
        return Estimate(None, NO_ORACLE_TOKENS, n)
    if covered is None or oracle_covered is None:
        return Estimate(None, NO_COVERAGE, n)
    if oracle_covered == 0:
        return Estimate(None, NO_ORACLE_COVERAGE, n)
    ratio = (covered / tokens) / (oracle_covered / oracle_tokens)
    return Estimate(ratio**weight, None, n)
