"""Citation precision and recall of a report, from support grades of its citations.

A grade is of one statement and one cited text: 2 full, 1 partial, 0 none. Each cited text counts
alone, as in the support evaluation of TREC RAG 2024 and in ARGUE, which also passes over sentences
that need no citation; nothing here says which these are. ALCE puts all that a statement cites
together and asks whether that entails it, which a grade of a single text cannot tell. Where
each statement has one citation, the weighted values are those of TREC RAG, which takes the first
citation alone; here precision counts all of them, and recall the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.stats.clusters import share
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

FULL = 2
NO_CITATION = "undefined, because the report cites nothing"
NO_STATEMENT = "undefined, because the report has no statement"
NO_REPORT = "undefined, because no report has all the grades that it needs"
NO_REPORT_AT_ALL = "undefined, because no report has what is counted"
MEASURES = ("precision", "precision_weighted", "recall", "recall_weighted")

Citations = Sequence[float]
"""The support of what a statement cites, each text once: FULL, 1, 0, or NaN where it is unrated."""


@dataclass(frozen=True, slots=True)
class CitationSupport:
    """Precision over citations and recall over statements, strict and weighted.

    `n` of precision counts citations with a grade and `missing` those without; of recall, statements
    whose best citation is known, and those of which a citation that may be better is unrated.
    """

    precision: Estimate
    precision_weighted: Estimate
    recall: Estimate
    recall_weighted: Estimate


def citation_support(statements: Sequence[Citations]) -> CitationSupport:
    """Return citation precision and recall of one report.

    `statements` has for each statement the support of its citations, in any order.

    Strict: the share of citations that support in full, and of statements that a text supports in
    full. Weighted: a partial support counts 1/2, and a statement as its best citation. A citation of
    nothing that is known is given as 0: it is wrong, and counts. A statement that cites nothing is an
    empty list: nothing supports it, and recall counts it as 0.

    While a grade that could change it is missing, a value is undefined: never is an unrated citation
    a 0. A statement with a full support needs no other grade for recall. Without citations precision
    is undefined, as is recall without statements; ALCE counts a precision of 0 there.
    Raises ValueError for a grade other than 0, 1, 2 and NaN.
    Source: Thakur et al. (2025), Support Evaluation for the TREC 2024 RAG Track, weighted precision
    and recall; Gao et al. (2023), ALCE, section 3 for the two names.
    """
    grades = [np.asarray(citations, dtype=np.float64) for citations in statements]
    all_grades = np.concatenate([np.empty(0), *grades])
    if not (np.isnan(all_grades) | np.isin(all_grades, (0, 1, FULL))).all():
        raise ValueError("the support of a citation is 0, 1, 2, or NaN where it is unrated")
    best = np.array([_best(citations) for citations in grades])
    return CitationSupport(
        precision=_mean(all_grades == FULL, all_grades, NO_CITATION, "citation"),
        precision_weighted=_mean(all_grades / FULL, all_grades, NO_CITATION, "citation"),
        recall=_mean(best == FULL, best, NO_STATEMENT, "statement"),
        recall_weighted=_mean(best / FULL, best, NO_STATEMENT, "statement"),
    )


def mean_over_reports(values: Sequence[Estimate], topics: Sequence[int]) -> Estimate:
    """The mean of one measure over the reports that have it, with its interval over topics.

    `topics` says which topic each report is of. `n` counts reports with a value and `missing` those
    that lack grades; those without anything to count (no citation, no statement) are neither.
    """
    counted = [value.value is not None or value.missing > 0 for value in values]
    counted_values = [value.value for value, has in zip(values, counted, strict=True) if has]
    of: IntArray = np.asarray(topics, dtype=np.int64)[np.asarray(counted, dtype=np.bool_)]
    numbers: FloatArray = np.array(counted_values, dtype=np.float64)
    why_empty = NO_REPORT if counted_values else NO_REPORT_AT_ALL
    return share(numbers, ~np.isnan(numbers), of, why_empty)


def _best(citations: FloatArray) -> float:
    if not len(citations):
        return 0.0
    return FULL if (citations == FULL).any() else float(citations.max())  # NaN if one is missing


def _mean(values: FloatArray, rated: FloatArray, why_empty: str, of: str) -> Estimate:
    """The mean of `values`, of which those are missing that are NaN in `rated`."""
    missing = int(np.isnan(rated).sum())
    n = len(rated) - missing
    if missing:
        lack = f"{of}s {'lacks' if missing == 1 else 'lack'} a grade"
        reason = f"undefined, because {missing} of {len(rated)} {lack}"
        return Estimate(None, reason, n, missing)
    if not n:
        return Estimate(None, why_empty, 0)
    return Estimate(float(values.mean()), None, n)
