"""The statistics of each kind of row of the report: the name that files give one, and its attribute.

In the order of the columns of CSV files. JSON names those that it wants, in an order of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from evaluation.stats.estimate import Estimate

Measures = Mapping[str, str]

OF_PART: Measures = {
    "fleiss_kappa": "kappa",
    "gwet_ac1": "ac1",
    "percent_agreement": "percent",
    "prevalence": "prevalence",
}
OF_RATER: Measures = {"prevalence": "prevalence"}
OF_PAIR: Measures = {
    "cohen_kappa": "kappa",
    "cohen_quadratic": "quadratic",
    "cohen_binary": "binary",
    "percent_agreement": "percent",
    "prevalence": "prevalence",
    "spearman": "spearman",
    "spans_meet": "spans_meet",
    "span_overlap": "overlap",
}
OF_MAJORITY: Measures = {
    "scott_pi": "kappa",
    "percent_agreement": "percent",
    "prevalence": "prevalence",
}
OF_COVERAGE: Measures = {name: name for name in ("pearson", "spearman", "kendall")}
AT_ETA: Measures = {
    name: name
    for name in (
        "precision_answerable",
        "recall_answerable",
        "f1_answerable",
        "precision_unanswerable",
        "recall_unanswerable",
        "f1_unanswerable",
        "accuracy",
        "cohen_binary",
        "prevalence",
        "judge_prevalence",
    )
}
AGAINST_JUDGE: Measures = {
    **AT_ETA,
    **{name: name for name in ("cohen_quadratic", "spearman", "mean_distance")},
}
COUNTS: Measures = {cell: f"confusion.{cell}" for cell in ("tp", "fp", "fn", "tn")}


def estimates(row: object, measures: Measures) -> dict[str, Estimate]:
    """The statistics of a row by the names that files give them."""
    return {name: attrgetter(path)(row) for name, path in measures.items()}
