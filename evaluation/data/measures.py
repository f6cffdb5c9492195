"""Measures that the grades of a rubric allow: the table of measures by scale.

Pages, files, JSON and the command ask here, so that none of them has to know what a scale is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from annotation.models import Rubric
from evaluation.stats.correlation import Correlation
from evaluation.stats.krippendorff import SET_METRICS, Metric

MAX_LEVELS = 10  # with more levels than this a grade is a quantity

ETA, ORDER, WEIGHTS, NAMES, NOT_BINARY, COUNTABLE, ONE_LEVEL, QUANTITY, SPANS = (
    *("eta", "order", "weights", "names", "several", "countable", "one_level", "quantity", "spans"),
)

# What a measure takes. One that is not here takes nothing: every rubric has it.
TAKES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("prevalence", "judge_prevalence", "answerable", "cohen_binary", "coverage"),
            *("precision_answerable", "recall_answerable", "f1_answerable"),
            *("precision_unanswerable", "recall_unanswerable", "f1_unanswerable"),
            *("tp", "fp", "fn", "tn"),
        ),
        ETA,
    ),
    **dict.fromkeys(("cohen_quadratic", "spearman", "mean_distance"), ORDER),
    **dict.fromkeys(("cohen_linear", "mean_grade"), WEIGHTS),
    **dict.fromkeys(("macro_precision", "macro_recall", "macro_f1", "classes"), NAMES),
    **dict.fromkeys(("composition", "matrix"), COUNTABLE),
    "gwet_ac1": ONE_LEVEL,
    **dict.fromkeys(("judge_scott_pi", "relative_drop"), NOT_BINARY),
    **dict.fromkeys(("icc_single", "icc_mean", "bias", "limit_low", "limit_high"), QUANTITY),
    **dict.fromkeys(
        (
            *("spans_meet", "span_overlap", "highlights_exact", "highlights_normalised"),
            *("highlights_not_in_text", "without_highlight", "krippendorff_alpha_highlights"),
        ),
        SPANS,
    ),
}
UNDEFINED_REASONS: Mapping[str, str] = {
    ETA: "no grade of this rubric says answerable",
    ORDER: "the grades of this rubric are names, and none is more than another",
    WEIGHTS: "the grades of this rubric are names, or two alone",
    NAMES: "the grades of this rubric have an order or a threshold, or are sets of labels",
    NOT_BINARY: "this rubric asks for yes or no",
    COUNTABLE: "this rubric asks for yes or no, or for sets of labels",
    ONE_LEVEL: "grades of this rubric are sets of labels: see AC1 of each label",
    QUANTITY: f"this rubric has {MAX_LEVELS} levels or fewer, or names",
    SPANS: "no grade of this rubric rests on marked words",
}


@dataclass(frozen=True)
class Measures:
    """Properties of a rubric's levels, and so the measures that its grades allow."""

    has: frozenset[str]
    metric: Metric
    """Of Krippendorff's alpha."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All metrics of Krippendorff's alpha that the grades allow, `metric` first."""
        return SET_METRICS if self.metric in SET_METRICS else (self.metric,)

    def __contains__(self, measure: str) -> bool:
        return measure not in TAKES or TAKES[measure] in self.has

    def none(self, measure: str) -> Correlation:
        """The estimate of a measure that these levels do not allow, with the reason."""
        return Correlation(None, f"undefined, because {UNDEFINED_REASONS[TAKES[measure]]}", 0)

    @cached_property
    def available(self) -> frozenset[str]:
        """The measures of the table that there are, for templates."""
        return frozenset(measure for measure in TAKES if measure in self)


def measures_of(rubric: Rubric) -> Measures:
    """The measures of a rubric.

    Two levels with an eta are yes and no, which is both a scale and names; and two levels are as far
    apart by every metric.
    """
    n, has_eta, has_order = len(rubric.grades()), rubric.has_threshold, rubric.has_order
    has = {
        ETA: has_eta,
        ORDER: has_order,
        WEIGHTS: has_order and n > 2,
        NAMES: not has_order and not rubric.is_multi_label,
        NOT_BINARY: n > 2 or not has_eta,
        COUNTABLE: (n > 2 or not has_eta) and not rubric.is_multi_label,
        ONE_LEVEL: not rubric.is_multi_label,
        QUANTITY: has_order and n > MAX_LEVELS,
        SPANS: rubric.span_from is not None,
    }
    metric: Metric = "ordinal" if has_order and n > 2 else "nominal"
    return Measures(
        frozenset(trait for trait, applies in has.items() if applies),
        SET_METRICS[0] if rubric.is_multi_label else metric,
    )
