"""Density of a context or report: coverage per token, against the oracle's."""

from __future__ import annotations

import math

from evaluation.agreement.estimate import Estimate

NO_TOKENS = "undefined, because the context has no tokens"
NO_ORACLE_TOKENS = "undefined, because the oracle has no tokens"
NO_ORACLE_COVERAGE = "undefined, because the oracle covers no question"


def density(
    covered: float,
    tokens: float,
    oracle_covered: float,
    oracle_tokens: float,
    weight: float = 0.5,
) -> Estimate:
    """((covered / tokens) / (oracle_covered / oracle_tokens)) ** weight; may exceed 1.

    `covered` and `oracle_covered` are both counts of covered questions of one topic, or both
    coverages (0 to 1): only their ratio matters. `tokens` are lengths by one and the same
    tokenizer. `n` = tokens of the context, rounded. Covers nothing: 0. Undefined if the context
    or the oracle has no tokens, or the oracle covers nothing. Raises ValueError for a negative or
    non-finite number, or a weight that is not above 0.
    Source: CRUX (Ju et al., 2025), section 3.3, eq. 5.
    """
    numbers = (covered, tokens, oracle_covered, oracle_tokens, weight)
    if not all(math.isfinite(number) and number >= 0 for number in numbers) or weight == 0:
        raise ValueError("coverage and tokens are numbers from 0, and the weight is above 0")
    n = round(tokens)
    if tokens == 0:
        return Estimate(None, NO_TOKENS, n)
    if oracle_tokens == 0:
        return Estimate(None, NO_ORACLE_TOKENS, n)
    if oracle_covered == 0:
        return Estimate(None, NO_ORACLE_COVERAGE, n)
    ratio = (covered / tokens) / (oracle_covered / oracle_tokens)
    return Estimate(ratio**weight, None, n)
