"""Answers to the golden cases of the metrics of contexts, reports, rankings and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.golden import inputs
from evaluation.metrics import density, ragquesteval, ranking, relevance_seen
from evaluation.metrics.alpha_ndcg import NO_ORACLE_ANSWER, AlphaNdcg, alpha_ndcg, alpha_ndcg_eq4
from evaluation.metrics.coverage import answerable_questions, coverage
from evaluation.metrics.grades import NO_ANSWERABLE
from evaluation.metrics.required_subset import Variant, required_subset
from evaluation.metrics.threshold import Threshold, threshold_analysis
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import Estimate, FloatArray

Result = dict[str, Any]

ZERO_IDEAL = {NO_ANSWERABLE: "zero_ideal", NO_ORACLE_ANSWER: "zero_ideal"}
DENSITY = {
    density.NO_COVERAGE: "undefined_coverage",
    density.NO_TOKENS: "zero_tokens",
    density.NO_ORACLE_TOKENS: "zero_oracle_tokens",
    density.NO_ORACLE_COVERAGE: "zero_oracle_coverage",
}
RAGQUESTEVAL = {
    ragquesteval.NO_QUESTIONS: "no_questions",
    ragquesteval.NONE_ANSWERED: "no_answered_questions",
}
RELEVANCE_SEEN = {
    relevance_seen.EMPTY_OUTPUT: "empty_output",
    relevance_seen.EMPTY_REL: "empty_rel",
    relevance_seen.EMPTY_REL_PRIME: "empty_relprime",
}
VARIANTS: tuple[Variant, ...] = ("greedy_marginal", "static_skip", "static_noskip")


def _coverage(raw: Mapping[str, Any]) -> Result:
    case = inputs.Coverage.model_validate(raw)
    if case.P_star is None:
        answerable = tuple(case.answerable or ())
        z = _matrix(case.Z, 1 + max(answerable, default=-1))
    else:
        p_star = _matrix(case.P_star)
        answerable = answerable_questions(p_star, case.answerable_eta)
        z = _matrix(case.Z, p_star.shape[1])
    estimate = coverage(z, answerable, case.eta)
    return {
        "answerable": list(estimate.answerable),
        **_result(estimate, {NO_ANSWERABLE: "no_answerable_questions"}),
        "n_answerable": estimate.n,
        "n_missing": estimate.missing,
        "covered": list(estimate.covered),
    }


def _alpha_ndcg(raw: Mapping[str, Any]) -> Result:
    case = inputs.AlphaNdcg.model_validate(raw)
    width = len(next(iter(case.docs.values()), []))
    ranked, pool, z_star = (
        _matrix([case.docs[name] for name in names], width)
        for names in (case.ranking, case.p_star, case.z_star_ranking)
    )
    standard = alpha_ndcg(ranked, pool, case.p_star, case.eta, alpha=case.alpha, cutoff=case.cutoff)
    eq4 = alpha_ndcg_eq4(ranked, z_star, standard.answerable, case.eta, alpha=case.alpha)
    ideal = [case.p_star[row] for row in standard.ideal_order]
    return {
        "answerable": list(standard.answerable),
        "paper_eq4": {**_ranked(eq4), "exceeds_one": eq4.value is not None and eq4.value > 1},
        "standard": {**_ranked(standard), "ideal_order": ideal},
    }


def _ranked(estimate: AlphaNdcg) -> Result:
    return {
        **_result(estimate, ZERO_IDEAL),
        "dcg": estimate.dcg,
        "ideal_dcg": estimate.ideal_dcg,
        "gains": list(estimate.gains),
        "ideal_gains": list(estimate.ideal_gains),
    }


def _density(raw: Mapping[str, Any]) -> Result:
    case = inputs.Density.model_validate(raw)
    estimate = density.density(
        case.coverage, case.tokens, case.oracle_coverage, case.oracle_tokens, case.w
    )
    return _result(estimate, DENSITY)


def _required_subset(raw: Mapping[str, Any]) -> Result:
    case = inputs.RequiredSubset.model_validate(raw)
    grades = _matrix(case.P_star)
    subsets = {variant: required_subset(grades, case.eta, variant) for variant in VARIANTS}
    return {
        variant: {
            "order": list(subset.rows),
            "marginal": list(subset.gains),
            "covered": list(subset.covered),
            "redundant": sorted(set(range(subset.n)) - set(subset.rows)),
        }
        for variant, subset in subsets.items()
    }


def _rank_metrics(raw: Mapping[str, Any]) -> Result:
    case = inputs.RankMetrics.model_validate(raw)
    gains = np.array([case.relevance.get(name, np.nan) for name in case.ranking])
    relevance = np.where(np.isnan(gains), gains, gains > 0)
    grades = np.array(list(case.relevance.values()))
    n_relevant = int((grades > 0).sum())
    estimates = {
        "recall": ranking.recall(relevance, n_relevant, case.cutoff),
        "map": ranking.average_precision(relevance, n_relevant, case.cutoff),
        "ndcg": ranking.ndcg(gains, grades, case.cutoff),
    }
    codes = {ranking.NO_RELEVANT: "no_relevant_passages"}
    return {name: _result(estimate, codes) for name, estimate in estimates.items()}


def _ragquesteval(raw: Mapping[str, Any]) -> Result:
    items = inputs.RagQuestEval.model_validate(raw).items
    scores = ragquesteval.ragquesteval(
        [item.reference for item in items], [item.generated for item in items]
    )
    return {
        "recall": _result(scores.recall, RAGQUESTEVAL),
        "precision_text": _result(scores.precision, RAGQUESTEVAL),
        "precision_eq2": _result(scores.precision_eq2, RAGQUESTEVAL),
        "f1": list(scores.f1),
    }


def _rel_relprime(raw: Mapping[str, Any]) -> Result:
    case = inputs.RelRelPrime.model_validate(raw)
    scores = relevance_seen.relevance_seen(case.output, case.rel, case.seen)
    return {
        "precision_rel": _result(scores.precision, RELEVANCE_SEEN),
        "recall_rel": _result(scores.recall, RELEVANCE_SEEN),
        "precision_relprime": _result(scores.precision_seen, RELEVANCE_SEEN),
        "recall_relprime": _result(scores.recall_seen, RELEVANCE_SEEN),
        "rel_prime": list(scores.rel_prime),
        "n_unseen_cited": len(scores.not_retrieved),
        "retrieval_ceiling": _result(scores.ceiling, RELEVANCE_SEEN),
        "precision_invariant": scores.same_precision,
    }


def _threshold_analysis(raw: Mapping[str, Any]) -> Result:
    case = inputs.ThresholdAnalysis.model_validate(raw)
    thresholds = threshold_analysis(
        [_matrix(topic.P_star, len(topic.final[0])) for topic in case.topics],
        [[_matrix(z, len(topic.final[0])) for z in topic.contexts] for topic in case.topics],
        [[_matrix([report]) for report in topic.final] for topic in case.topics],
        case.etas,
    )
    return {f"{threshold.eta:g}": _threshold(threshold) for threshold in thresholds}


def _threshold(threshold: Threshold) -> Result:
    return {
        "cov_z": [system.value for system in threshold.contexts.systems],
        "cov_y": [system.value for system in threshold.reports.systems],
        "kendall_b": _correlation(threshold.tau),
        "mean_cov_z": threshold.contexts.mean.value,
        "sd_cov_z": threshold.contexts.sd.value,
        "mean_cov_y": threshold.reports.mean.value,
        "sd_cov_y": threshold.reports.sd.value,
    }


def _correlation(estimate: Correlation) -> Result:
    return {
        "value": estimate.value,
        "reason": estimate.reason,
        "p": estimate.p,
        "p_reason": estimate.p_reason,
        "p_method": estimate.p_method,
        "n": estimate.n,
        "dropped": estimate.missing,
    }


def _result(estimate: Estimate, codes: Mapping[str, str]) -> Result:
    """An estimate in the schema of the cases; a reason is the code that `codes` has for it."""
    return {"value": estimate.value, "reason": codes[estimate.reason] if estimate.reason else None}


def _matrix(rows: Sequence[Sequence[float | None]], width: int = 0) -> FloatArray:
    """Rows of ratings as an array, null as NaN; without rows it is 0 x `width`."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else width)


FAMILIES: dict[str, Callable[[dict[str, Any]], Result]] = {
    "alpha_ndcg": _alpha_ndcg,
    "coverage": _coverage,
    "density": _density,
    "ragquesteval": _ragquesteval,
    "rank_metrics": _rank_metrics,
    "rel_relprime": _rel_relprime,
    "required_subset": _required_subset,
    "threshold_analysis": _threshold_analysis,
}
