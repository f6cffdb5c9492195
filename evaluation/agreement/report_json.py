"""The agreement report as one JSON object, with values in full precision.

An undefined value is null. A statistic that the format names as a plain number has its n, interval
and reason in `details`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.agreement.by_rater import Pair, RaterRow
from evaluation.agreement.composition import ALL_SYSTEMS
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.majority import MajorityRow
from evaluation.agreement.numbers import (
    AGAINST_JUDGE,
    AT_ETA,
    OF_COVERAGE,
    OF_EVIDENCE,
    OF_LABEL,
    OF_MAJORITY,
    OF_PAIR,
    OF_PART,
    Attributes,
    estimates,
)
from evaluation.agreement.parts import Part
from evaluation.agreement.report import AgreementReport
from evaluation.agreement.threshold import AtEta
from evaluation.data.certificates import certificates_in_words
from evaluation.scoring.report_coverage import Correlations
from evaluation.stats.classes import Classes
from evaluation.stats.confusion import ClassScores
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import Estimate

Json = dict[str, Any]
# The macro means of a judge are with its classes.
OF_ONE_JUDGE = {name: path for name, path in AGAINST_JUDGE.items() if "." not in path}


def as_json(report: AgreementReport) -> Json:
    """Return the report as a JSON object, the judge's scores first where eta is not needed.

    On one scale, the object is the judge's with `between_raters` inside it; otherwise it is the
    raters' object with `judge` inside it.
    """
    selection = report.selection
    head: Json = {
        "dataset": selection.dataset.slug,
        "certificates": certificates_in_words(selection.dataset, selection.filter_phrases()),
        "rubric": selection.rubric.slug,
        "scale": selection.rubric.scale,
        "levels": list(report.levels),
        "eta": selection.eta,
    }
    if not selection.rubric.has_order:
        head["level_names"] = {str(grade): selection.names[grade] for grade in report.levels}
    if selection.majority != "strict":
        head["majority"] = selection.majority
    if selection.campaign:
        head["campaign"] = selection.campaign.slug
    if report.kappa_with_exposed:
        head["exposed"] = {
            "n": report.n_exposed,
            "grades": selection.exposed,
            "fleiss_kappa_with_exposed": detailed(report.kappa_with_exposed),
        }
    raters = _between_raters(report)
    if report.judge is None or selection.judge is None:
        return head | raters
    judge: Json = {"judge": selection.judge.name} | _against(report.judge)
    if evidence := report.judge_words:
        judge["words"] = {"n_judge_alone": evidence.n_judge_alone, **_these(evidence, OF_EVIDENCE)}
    judge["by_rater"] = {part.name: _against(part) for part in report.judge_by_rater}
    judge["by_system"] = {part.name: _against(part) for part in report.judge_by_system}
    if selection.one_scale:
        return head | {"raters": raters["raters"]} | judge | {"between_raters": raters}
    return head | raters | {"judge": judge}


def detailed(estimate: Estimate) -> Json:
    """Return value, reason, n, missing and 95% interval of one estimate."""
    values: Json = {
        "value": estimate.value,
        "reason": estimate.reason,
        "n": estimate.n,
        "missing": estimate.missing,
        "ci95": None if estimate.low is None else [estimate.low, estimate.high],
    }
    if estimate.interval_reason:
        values["ci95_reason"] = estimate.interval_reason
    if isinstance(estimate, Correlation):
        values["p"] = estimate.p
    return values


def _plain(by_name: Mapping[str, Estimate]) -> Json:
    values: Json = {name: estimate.value for name, estimate in by_name.items()}
    return values | {"details": {name: detailed(estimate) for name, estimate in by_name.items()}}


def _these(row: object, measures: Attributes, *names: str) -> Json:
    """Return statistics of a row as plain numbers, in the order of the format."""
    return _plain(estimates(row, {name: measures[name] for name in names or measures}))


def _between_raters(report: AgreementReport) -> Json:
    raters = report.selection.raters
    coverage: Json = {rater.name: {} for rater in raters}
    unrated: Json = {rater.name: {} for rater in raters}
    for row in report.reports:
        for rater, share in zip(raters, row.coverage, strict=True):
            if share.n:
                coverage[rater.name][row.name] = share.value
            if share.missing:
                unrated[rater.name][row.name] = share.missing
    resampled = report.bootstrap
    return {
        "n_items": report.n_items,
        "n_missing": report.n_missing,
        "n_topics": report.n_topics,
        "n_filtered": report.n_filtered,
        "raters": [rater.name for rater in raters],
        "fleiss_kappa": detailed(report.all.kappa)
        | {
            "bootstrap": {
                "ci95": None if resampled.low is None else [resampled.low, resampled.high],
                "reason": resampled.interval_reason,
                "resamples": resampled.n_resamples,
                "undefined_resamples": resampled.n_undefined,
                "seed": resampled.seed,
                "caution": resampled.caution,
            }
        },
        "krippendorff_alpha": detailed(report.alpha) | {"metric": report.alpha_metric},
        **_labels(report),
        "krippendorff_alpha_highlights": detailed(report.highlights),
        **_plain(
            {
                "percent_agreement": report.all.percent,
                "gwet_ac1": report.all.ac1,
                "prevalence": report.all.prevalence,
                "unanimous": report.unanimous,
            }
        ),
        "cohen": [_pair(pair) for pair in report.pairs],
        "n_pairs_without_common_items": report.n_pairs_without_common_items,
        "against_majority": [_majority(row) for row in report.majority],
        "coverage": coverage,
        "coverage_unrated": unrated,
        "mean_coverage": {
            system: {
                rater.name: mean.value
                for rater, mean in zip(report.selection.columns, means, strict=True)
            }
            for system, means in report.mean_coverage.items()
        },
        "coverage_correlation": [_correlation(row) for row in report.correlations],
        "by_system": {part.name: _part(part) for part in report.systems},
        "by_topic": {part.name: _part(part) for part in report.topics},
        **_slices(report),
        **_composition(report),
        **_icc(report),
        "rater_counts": {row.rater.name: _rater(row) for row in report.raters},
    }


def _labels(report: AgreementReport) -> Json:
    """Return alphas by further metrics, and the agreement on each label of a rubric."""
    further = [metric for metric in report.alphas if metric != report.alpha_metric]
    alphas: Json = {f"krippendorff_alpha_{name}": detailed(report.alphas[name]) for name in further}
    if not report.labels:
        return alphas
    by_label = {
        row.name: {"number": row.number, "n_chosen": row.n_chosen, **_these(row, OF_LABEL)}
        for row in report.labels
    }
    return alphas | {"by_label": by_label}


def _part(part: Part) -> Json:
    return {
        "n_items": part.n_items,
        "n_missing": part.n_missing,
        "fleiss_kappa": detailed(part.kappa),
        **_these(part, OF_PART, "percent_agreement", "gwet_ac1", "prevalence"),
    }


def _pair(pair: Pair) -> Json:
    return {
        "a": pair.a.name,
        "b": pair.b.name,
        **detailed(pair.kappa),
        **_these(
            pair,
            OF_PAIR,
            "percent_agreement",
            "prevalence",
            "scott_pi",
            "cohen_linear",
            "cohen_quadratic",
            "cohen_binary",
            "spearman",
            "spans_meet",
            "span_overlap",
        ),
        "matrix": pair.matrix.tolist(),
        **_classes(pair.classes),
        **(
            {
                "bland_altman": {
                    "bias": detailed(pair.limits.bias),
                    "low": detailed(pair.limits.low),
                    "high": detailed(pair.limits.high),
                }
            }
            if pair.limits
            else {}
        ),
    }


def _classes(classes: Classes | None) -> Json:
    """Return precision, recall and F1 of each grade and their macro means, for nominal grades."""
    if classes is None:
        return {}

    def scores(of: ClassScores) -> Json:
        by_measure = {"precision": of.precision, "recall": of.recall, "f1": of.f1}
        return _plain(by_measure)

    return {
        "accuracy": classes.accuracy.value,
        "classes": {
            str(grade): scores(of) for grade, of in zip(classes.levels, classes.scores, strict=True)
        },
        "macro": scores(classes.macro),
        "macro_f1": classes.macro.f1.value,
    }


def _slices(report: AgreementReport) -> Json:
    by = report.selection.by
    if by is None:
        return {}
    return {
        "by_rating": {
            "rubric": by.rubric.slug,
            "rater": by.rater.name,
            "slices": {part.name: _part(part) for part in report.slices},
        }
    }


def _composition(report: AgreementReport) -> Json:
    """Return the counts of each grade by rater, and mean grades where grades are ordered."""
    if "composition" not in report.selection.measures:
        return {}
    counts_by_rater: Json = {"composition": {}, "composition_by_system": {}}
    means: Json = {}
    for row in report.graded:
        counts = {str(grade): count for grade, count in row.counts.items()}
        if row.system == ALL_SYSTEMS:
            counts_by_rater["composition"][row.rater.name] = counts
        else:
            counts_by_rater["composition_by_system"].setdefault(row.system, {})[row.rater.name] = (
                counts
            )
        if "mean_grade" in report.selection.measures:
            means.setdefault(row.system, {})[row.rater.name] = detailed(row.mean)
    return counts_by_rater | ({"mean_grade": means} if means else {})


def _icc(report: AgreementReport) -> Json:
    if report.icc is None:
        return {}
    return {"icc": {"single": detailed(report.icc.single), "mean": detailed(report.icc.mean)}}


def _rater(row: RaterRow) -> Json:
    return {
        "kind": row.rater.kind,
        "n": row.n,
        "n_missing": row.n_missing,
        "n_answerable": row.n_answerable,
        "prevalence": detailed(row.prevalence),
        "n_without_highlight": row.n_unmarked,
        "highlights": {
            "exact": row.n_exact,
            "normalised": row.n_normalised,
            "unlocated": row.n_unlocated,
        },
    }


def _majority(row: MajorityRow) -> Json:
    return {
        "rater": row.rater.name,
        "n_without_majority": row.n_dropped,
        "scott_pi": detailed(row.kappa),
        **_these(
            row,
            OF_MAJORITY,
            "cohen_kappa",
            "percent_agreement",
            "prevalence",
            "judge_scott_pi",
            "relative_drop",
        ),
        "levels": list(row.levels),
        "matrix": row.matrix.tolist(),
        **_classes(row.classes),
    }


def _correlation(row: Correlations) -> Json:
    return {
        "a": row.a.name,
        "b": row.b.name,
        "n": row.pearson.n,
        "missing": row.pearson.missing,
        **_these(row, OF_COVERAGE),
    }


def _against(part: AgainstJudge) -> Json:
    return {
        "n": part.n,
        "n_without_judge": part.n_without_judge,
        "confusion": _cells(part),
        **_these(part, OF_ONE_JUDGE),
        **_classes(part.classes),
        "levels": list(part.levels),
        "matrix": part.matrix.tolist(),
        "sweep": [
            {
                "eta": scores.eta,
                "n": part.n,
                "confusion": _cells(scores),
                **_these(scores, AT_ETA),
            }
            for scores in part.sweep
        ],
    }


def _cells(scores: AtEta) -> Json | None:
    cells = scores.confusion
    return (
        None if cells is None else {"tp": cells.tp, "fp": cells.fp, "fn": cells.fn, "tn": cells.tn}
    )
