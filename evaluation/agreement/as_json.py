"""The agreement report as one JSON object. Values keep their full precision; undefined is null.

A statistic that the format names as a plain number has its n, interval and reason in `details`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.agreement.by_rater import Pair, RaterRow
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.majority import MajorityRow
from evaluation.agreement.numbers import (
    AGAINST_JUDGE,
    AT_ETA,
    OF_COVERAGE,
    OF_MAJORITY,
    OF_PAIR,
    OF_PART,
    Attributes,
    estimates,
)
from evaluation.agreement.page import AgreementReport
from evaluation.agreement.parts import Part
from evaluation.agreement.threshold import AtEta
from evaluation.scoring.report_coverage import Correlations
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import Estimate

Json = dict[str, Any]


def as_json(report: AgreementReport) -> Json:
    """Grades against a judge come first where the raters grade; else the raters among themselves.

    So `graded` with a judge is the judge's object with `between_raters` inside it, and
    `answerable` with a judge is the raters' object with `judge` inside it.
    """
    selection = report.selection
    head: Json = {
        "dataset": selection.dataset.slug,
        "rubric": selection.rubric.slug,
        "levels": list(selection.levels),
        "eta": selection.eta,
    }
    if selection.campaign:
        head["campaign"] = selection.campaign.slug
    raters = _between_raters(report)
    if report.judge is None or selection.judge is None:
        return head | raters
    judge: Json = {"judge": selection.judge.name} | _against(report.judge)
    judge["by_rater"] = {part.name: _against(part) for part in report.judge_by_rater}
    judge["by_system"] = {part.name: _against(part) for part in report.judge_by_system}
    if selection.one_scale:
        return head | {"raters": raters["raters"]} | judge | {"between_raters": raters}
    return head | raters | {"judge": judge}


def detailed(estimate: Estimate) -> Json:
    """Value, reason, n, missing and 95% interval of one estimate."""
    shown: Json = {
        "value": estimate.value,
        "reason": estimate.reason,
        "n": estimate.n,
        "missing": estimate.missing,
        "ci95": None if estimate.low is None else [estimate.low, estimate.high],
    }
    if estimate.interval_reason:
        shown["ci95_reason"] = estimate.interval_reason
    if isinstance(estimate, Correlation):
        shown["p"] = estimate.p
    return shown


def _plain(named: Mapping[str, Estimate]) -> Json:
    values: Json = {name: estimate.value for name, estimate in named.items()}
    return values | {"details": {name: detailed(estimate) for name, estimate in named.items()}}


def _these(row: object, measures: Attributes, *names: str) -> Json:
    """Some statistics of a row as plain numbers, in the order of the format."""
    named = estimates(row, measures)
    return _plain({name: named[name] for name in names or measures})


def _between_raters(report: AgreementReport) -> Json:
    raters = report.selection.raters
    coverage: Json = {}
    unrated: Json = {}
    for column, rater in enumerate(raters):
        seen = {row.name: row.coverage[column] for row in report.reports if row.coverage[column].n}
        coverage[rater.name] = {name: share.value for name, share in seen.items()}
        unrated[rater.name] = {name: share.missing for name, share in seen.items() if share.missing}
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
        **_plain(
            {
                "percent_agreement": report.all.percent,
                "gwet_ac1": report.all.ac1,
                "prevalence": report.all.prevalence,
                "unanimous": report.unanimous,
            }
        ),
        "cohen": [_pair(pair) for pair in report.pairs],
        "n_pairs_without_common_items": report.n_pairs_apart,
        "against_majority": [_majority(row) for row in report.majority],
        "coverage": coverage,
        "coverage_unrated": unrated,
        "mean_coverage": {
            system: {
                rater.name: mean.value for rater, mean in zip(report.columns, means, strict=True)
            }
            for system, means in report.mean_coverage.items()
        },
        "coverage_correlation": [_correlation(row) for row in report.correlations],
        "by_system": {part.name: _part(part) for part in report.systems},
        "by_topic": {part.name: _part(part) for part in report.topics},
        "rater_counts": {row.rater.name: _rater(row) for row in report.raters},
    }


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
            "cohen_quadratic",
            "cohen_binary",
            "spearman",
            "spans_meet",
            "span_overlap",
        ),
    }


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
        **_these(row, OF_MAJORITY, "percent_agreement", "prevalence"),
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
        **_these(part, AGAINST_JUDGE),
        "levels": list(part.levels),
        "matrix": part.matrix.tolist(),
        "sweep": [
            {
                "eta": scores.eta,
                "n": scores.confusion.n,
                "confusion": _cells(scores),
                **_these(scores, AT_ETA),
            }
            for scores in part.sweep
        ],
    }


def _cells(scores: AtEta) -> Json:
    cells = scores.confusion
    return {"tp": cells.tp, "fp": cells.fp, "fn": cells.fn, "tn": cells.tn}
