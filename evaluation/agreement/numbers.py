"""The numbers of an agreement report as one long table, for CSV files and the command.

A scope is one kind of row of the report: its names, its counts and its statistics are defined here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from evaluation.agreement.confusions import class_rows
from evaluation.agreement.report import AgreementReport
from evaluation.data.measures import Measures
from evaluation.result_tables import Number, estimated
from evaluation.stats.estimate import Estimate

Attributes = Mapping[str, str]
"""Names in files, and the attribute paths of their values in a row."""

OF_PART: Attributes = {
    "fleiss_kappa": "kappa",
    "gwet_ac1": "ac1",
    "percent_agreement": "percent",
    "prevalence": "prevalence",
}
OF_PAIR: Attributes = {
    "cohen_kappa": "kappa",
    "scott_pi": "scott",
    "cohen_linear": "linear",
    "cohen_quadratic": "quadratic",
    "cohen_binary": "binary",
    "percent_agreement": "percent",
    "prevalence": "prevalence",
    "spearman": "spearman",
    "spans_meet": "spans_meet",
    "span_overlap": "overlap",
    "bias": "limits.bias",
    "limit_low": "limits.low",
    "limit_high": "limits.high",
    "macro_f1": "classes.macro.f1",
}
OF_MAJORITY: Attributes = {
    "scott_pi": "kappa",
    "cohen_kappa": "cohen",
    "percent_agreement": "percent",
    "prevalence": "prevalence",
    "judge_scott_pi": "judge",
    "relative_drop": "drop",
    "macro_precision": "classes.macro.precision",
    "macro_recall": "classes.macro.recall",
    "macro_f1": "classes.macro.f1",
}
OF_GRADES: Attributes = {"mean_grade": "mean"}
OF_LABEL: Attributes = {
    "prevalence_of_label": "prevalence",
    "fleiss_kappa": "kappa",
    "gwet_ac1_of_label": "ac1",
    "percent_agreement": "percent",
}
OF_COVERAGE: Attributes = {name: name for name in ("pearson", "spearman", "kendall")}
AT_ETA: Attributes = {
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
AGAINST_JUDGE: Attributes = {
    **AT_ETA,
    **{
        name: name
        for name in (
            *("cohen_kappa", "cohen_linear", "cohen_quadratic", "spearman", "mean_distance"),
        )
    },
    "macro_precision": "classes.macro.precision",
    "macro_recall": "classes.macro.recall",
    "macro_f1": "classes.macro.f1",
}
OF_EVIDENCE: Attributes = {
    "word_precision": "precision",
    "word_recall": "recall",
    "word_overlap": "overlap",
    "words_meet": "meet",
}
CONFUSION: Attributes = {cell: f"confusion.{cell}" for cell in ("tp", "fp", "fn", "tn")}
OF_JUDGE: Attributes = {"n": "n", "without_judge": "n_without_judge", **CONFUSION}


@dataclass(frozen=True)
class Scope:
    """Row kind of the report, with its columns in the order of CSV files.

    `names` identify a row, `plain` are its other columns, `measures` its statistics. A rubric has those
    that its levels allow.
    """

    rows: Callable[[AgreementReport], Iterable[object]]
    names: Attributes
    plain: Attributes = field(default_factory=dict)
    measures: Attributes = field(default_factory=dict)

    def restricted_to(self, allowed: Measures) -> Scope:
        """Return the scope with the columns that a rubric's grades allow."""
        plain = {name: path for name, path in self.plain.items() if name in allowed}
        measures = {name: path for name, path in self.measures.items() if name in allowed}
        return replace(self, plain=plain, measures=measures)


def _part(column: str, rows: Callable[[AgreementReport], Iterable[object]]) -> Scope:
    counts = {"items": "n_items", "missing_ratings": "n_missing"}
    return Scope(rows, {column: "name"}, counts, OF_PART)


SCOPES: Mapping[str, Scope] = {
    "system": _part("system", lambda report: report.systems),
    "topic": _part("topic", lambda report: report.topics),
    "slice": _part("slice", lambda report: report.slices),
    "label": Scope(
        lambda report: report.labels, {"label": "name"}, {"chosen": "n_chosen"}, OF_LABEL
    ),
    "rater": Scope(
        lambda report: report.raters,
        {"rater": "rater.name"},
        {
            "kind": "rater.kind",
            "n": "n",
            "missing": "n_missing",
            "answerable": "n_answerable",
            "highlights_exact": "n_exact",
            "highlights_normalised": "n_normalised",
            "highlights_not_in_text": "n_unlocated",
            "without_highlight": "n_unmarked",
        },
        {"prevalence": "prevalence"},
    ),
    "grades": Scope(
        lambda report: report.graded,
        {"rater": "rater.name", "system": "system"},
        {"n": "n"},
        OF_GRADES,
    ),
    "pair": Scope(lambda report: report.pairs, {"a": "a.name", "b": "b.name"}, {}, OF_PAIR),
    "majority": Scope(
        lambda report: report.majority,
        {"rater": "rater.name"},
        {"kind": "rater.kind", "without_majority": "n_dropped"},
        OF_MAJORITY,
    ),
    "class": Scope(
        lambda report: class_rows(report),
        {"true_side": "truth", "other_side": "rater", "grade": "grade"},
        {"level": "level"},
        {"precision": "scores.precision", "recall": "scores.recall", "f1": "scores.f1"},
    ),
    "correlation": Scope(
        lambda report: report.correlations, {"a": "a.name", "b": "b.name"}, {}, OF_COVERAGE
    ),
    "judge": Scope(
        lambda report: filter(None, [report.judge]), {"name": "name"}, OF_JUDGE, AGAINST_JUDGE
    ),
    "judge_rater": Scope(
        lambda report: report.judge_by_rater, {"name": "name"}, OF_JUDGE, AGAINST_JUDGE
    ),
    "judge_system": Scope(
        lambda report: report.judge_by_system, {"name": "name"}, OF_JUDGE, AGAINST_JUDGE
    ),
    "judge_words": Scope(
        lambda report: filter(None, [report.judge_words]),
        {},
        {"judge_alone": "n_judge_alone"},
        OF_EVIDENCE,
    ),
    "eta": Scope(
        lambda report: report.judge.sweep if report.judge else (),
        {"eta": "eta"},
        {"n": "confusion.n", **CONFUSION},
        AT_ETA,
    ),
}


class Overall(NamedTuple):
    """A statistic of all raters on all items, and the kind of its interval."""

    measure: str
    estimate: Estimate
    interval: str | None


def estimates(row: object, measures: Attributes) -> dict[str, Estimate]:
    """Return the statistics of a row by their names in files."""
    return {name: attrgetter(path)(row) for name, path in measures.items()}


def overall(report: AgreementReport) -> list[Overall]:
    """Return the statistics of all raters on all items. Fleiss' kappa has two intervals."""
    resampled, over_topics = report.bootstrap, "jackknife over topics"
    resamples = f"bootstrap of topics, {resampled.n_resamples} resamples, seed {resampled.seed}"
    if resampled.caution:
        resamples += f"; {resampled.caution}"
    icc, measures = report.icc, report.selection.measures
    has_prevalence, has_spans = "prevalence" in measures, "spans_meet" in measures
    return [
        Overall("fleiss_kappa", report.all.kappa, over_topics),
        Overall("fleiss_kappa", resampled, resamples),
        *(
            [Overall("fleiss_kappa_with_exposed", report.kappa_with_exposed, over_topics)]
            if report.kappa_with_exposed
            else []
        ),
        *(
            Overall(f"krippendorff_alpha_{metric}", estimate, over_topics)
            for metric, estimate in report.alphas.items()
        ),
        *([Overall("gwet_ac1", report.all.ac1, over_topics)] if "gwet_ac1" in measures else []),
        Overall("percent_agreement", report.all.percent, over_topics),
        Overall("unanimous", report.unanimous, None),
        *(
            [Overall("krippendorff_alpha_highlights", report.highlights, over_topics)]
            if has_spans
            else []
        ),
        *([Overall("prevalence", report.all.prevalence, over_topics)] if has_prevalence else []),
        *(
            [
                Overall("icc_single", icc.single, over_topics),
                Overall("icc_mean", icc.mean, over_topics),
            ]
            if icc
            else []
        ),
    ]


def overall_counts(report: AgreementReport) -> dict[str, int]:
    """Return the counts of items, ratings and topics that are compared."""
    return {
        "items": report.n_items,
        "missing_ratings": report.n_missing,
        "possible_ratings": report.n_cells,
        "filtered_pairs": report.n_filtered,
        **({"exposed_ratings": report.n_exposed} if report.n_exposed else {}),
        "topics": report.n_topics,
    }


def numbers(report: AgreementReport) -> Iterator[Number]:
    """Yield all numbers of the report, scope by scope: `all`, then SCOPES, then coverages.

    Names of more than one part ("ann, ben") are joined by commas. A statistic that is undefined has
    no value and a reason, as has one without an interval.
    """
    for name, count in overall_counts(report).items():
        yield Number("all", "", name, count)
    for measure, estimate, _ in overall(report):
        suffix = "_bootstrap" if estimate is report.bootstrap else ""
        yield estimated("all", "", measure + suffix, estimate)
    for kind, scope in SCOPES.items():
        allowed = scope.restricted_to(report.selection.measures)
        for row in allowed.rows(report):
            yield from _of_row(kind, allowed, row)
    for grades in report.graded:
        for grade, count in grades.counts.items():
            yield Number("grades", f"{grades.rater.name}, {grades.system}", f"grade_{grade}", count)
    for line in report.reports:
        for rater, share in report.coverage_of(line):
            yield estimated("coverage", line.name, rater.name, share)
    for system, means in report.mean_coverage.items():
        for rater, mean in zip(report.selection.columns, means, strict=True):
            yield estimated("mean_coverage", system, rater.name, mean)


def _of_row(kind: str, scope: Scope, row: object) -> Iterator[Number]:
    name = ", ".join(str(attrgetter(path)(row)) for path in scope.names.values())
    for measure, path in scope.plain.items():
        count = attrgetter(path)(row)
        if isinstance(count, int):
            yield Number(kind, name, measure, count)
    for measure, estimate in estimates(row, scope.measures).items():
        yield estimated(kind, name, measure, estimate)
