"""Answers to the golden cases of agreement between raters, and of its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evaluation.golden import inputs, uncertainty
from evaluation.golden.results import Result, array, code, result, table
from evaluation.stats import cohen, confusion, correlation, fleiss, majority
from evaluation.stats.krippendorff import Metric, krippendorff_alpha
from evaluation.stats.overlap import rbo_ext

WEIGHTS: dict[str, cohen.Weights] = {
    "unweighted": None,
    "linear": "linear",
    "quadratic": "quadratic",
}
CORRELATIONS = {
    "pearson": correlation.pearson,
    "spearman": correlation.spearman,
    "kendall_b": correlation.kendall_tau_b,
}
METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval")


def _annotator_vs_majority(raw: Mapping[str, Any]) -> list[Result]:
    case = inputs.AnnotatorVsMajority.model_validate(raw)
    judge = array(case.llm)
    ratings = table(case.annotators, len(judge)).T
    results = []
    for number, comparison in enumerate(majority.rater_against_majority(ratings, case.labels)):
        of_judge = majority.scott_pi(judge, comparison.majority, case.labels)
        results.append(
            {
                "annotator": number,
                "majority": [None if np.isnan(level) else level for level in comparison.majority],
                "n_no_majority": comparison.n_no_majority,
                "human_vs_majority": {**result(comparison.kappa), "n": comparison.kappa.n},
                "llm_vs_majority": {**result(of_judge), "n": of_judge.n},
                "relative_drop": majority.relative_drop(comparison.kappa, of_judge).value,
            }
        )
    return results


def _cohen_kappa(raw: Mapping[str, Any]) -> Result:
    case = inputs.CohenKappa.model_validate(raw)
    a, b = array(case.a), array(case.b)
    results = {}
    for name, weights in WEIGHTS.items():
        kappa = cohen.cohen_kappa(a, b, case.labels, weights)
        results[name] = {
            **result(kappa),
            "n": kappa.n,
            "dropped": kappa.missing,
            "percent_agreement": cohen.percent_agreement(a, b).value,
            "one_rater_constant": cohen.one_rater_constant(a, b),
        }
    return results


def _confusion_at_eta(raw: Mapping[str, Any]) -> Result:
    case = inputs.ConfusionAtEta.model_validate(raw)
    matrix = confusion.confusion_at_eta(array(case.human), array(case.llm), case.eta)
    return {
        "matrix": {"tp": matrix.tp, "fp": matrix.fp, "fn": matrix.fn, "tn": matrix.tn},
        "n": matrix.n,
        "dropped": matrix.missing,
        "answerable": _scores(matrix.answerable),
        "unanswerable": _scores(matrix.unanswerable),
        "accuracy": result(matrix.accuracy),
    }


def _scores(scores: confusion.ClassScores) -> Result:
    return {
        "precision": result(scores.precision),
        "recall": result(scores.recall),
        "f1": result(scores.f1),
    }


def _correlation(raw: Mapping[str, Any]) -> Result:
    case = inputs.Correlation.model_validate(raw)
    results = {}
    for name, correlate in CORRELATIONS.items():
        estimate = correlate(array(case.x), array(case.y))
        results[name] = {
            **result(estimate),
            "p": estimate.p,
            "p_reason": code(estimate.p_reason),
            "p_method": estimate.p_method,
            "n": estimate.n,
            "dropped": estimate.missing,
        }
    return results


def _fleiss_kappa(raw: Mapping[str, Any]) -> Result:
    case = inputs.FleissKappa.model_validate(raw)
    counts = table(case.counts, 2)
    kappa, expected = fleiss.fleiss_kappa(counts), fleiss.expected_agreement(counts)
    raters = counts.sum(axis=1)
    return {
        **result(kappa),
        "observed_agreement": fleiss.percent_agreement(counts).value,
        "expected_agreement": expected.value,
        "category_shares": fleiss.prevalence(counts).tolist() if expected.n else None,
        "gwet_ac1": fleiss.gwet_ac1(counts).value,
        "randolph": fleiss.randolph_kappa(counts).value,
        "n_items": expected.n,
        "n_items_two_or_more": kappa.n,
        "equal_raters": len(np.unique(raters)) == 1,
    }


def _krippendorff_alpha(raw: Mapping[str, Any]) -> Result:
    ratings = table(inputs.KrippendorffAlpha.model_validate(raw).ratings, 0)
    results: Result = {}
    for metric in METRICS:
        alpha = krippendorff_alpha(ratings, metric)
        results[metric] = {
            **result(alpha),
            "observed_disagreement": alpha.observed,
            "expected_disagreement": alpha.expected,
            "n_pairable_units": alpha.n,
            "n_pairable_values": alpha.n_values,
        }
    return results


def _rbo_ext(raw: Mapping[str, Any]) -> Result:
    case = inputs.RboExt.model_validate(raw)
    return result(rbo_ext(case.a, case.b, case.p))


FAMILIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    **uncertainty.FAMILIES,
    "annotator_vs_majority": _annotator_vs_majority,
    "cohen_kappa": _cohen_kappa,
    "confusion_at_eta": _confusion_at_eta,
    "correlation": _correlation,
    "fleiss_kappa": _fleiss_kappa,
    "krippendorff_alpha": _krippendorff_alpha,
    "rbo_ext": _rbo_ext,
}
