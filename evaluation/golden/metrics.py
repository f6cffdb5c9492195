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
    given = inputs.Coverage.model_validate(raw)
    if given.P_star is None:
        answerable = tuple(given.answerable or ())
        z = _matrix(given.Z, 1 + max(answerable, default=-1))
    else:
        p_star = _matrix(given.P_star)
        answerable = answerable_questions(p_star, given.answerable_eta)
        z = _matrix(given.Z, p_star.shape[1])
    found = coverage(z, answerable, given.eta)
    return {
        "answerable": list(found.answerable),
        **_result(found, {NO_ANSWERABLE: "no_answerable_questions"}),
        "n_answerable": found.n,
        "n_missing": found.missing,
        "covered": list(found.covered),
    }


def _alpha_ndcg(raw: Mapping[str, Any]) -> Result:
    given = inputs.AlphaNdcg.model_validate(raw)
    width = len(next(iter(given.docs.values()), []))
    ranked, pool, z_star = (
        _matrix([given.docs[name] for name in names], width)
        for names in (given.ranking, given.p_star, given.z_star_ranking)
    )
    standard = alpha_ndcg(
        ranked, pool, given.p_star, given.eta, alpha=given.alpha, cutoff=given.cutoff
    )
    eq4 = alpha_ndcg_eq4(ranked, z_star, standard.answerable, given.eta, alpha=given.alpha)
    ideal = [given.p_star[row] for row in standard.ideal_order]
    return {
        "answerable": list(standard.answerable),
        "paper_eq4": {**_ranked(eq4), "exceeds_one": eq4.value is not None and eq4.value > 1},
        "standard": {**_ranked(standard), "ideal_order": ideal},
    }


def _ranked(found: AlphaNdcg) -> Result:
    return {
        **_result(found, ZERO_IDEAL),
        "dcg": found.dcg,
        "ideal_dcg": found.ideal_dcg,
        "gains": list(found.gains),
        "ideal_gains": list(found.ideal_gains),
    }


def _density(raw: Mapping[str, Any]) -> Result:
    given = inputs.Density.model_validate(raw)
    found = density.density(
        given.coverage, given.tokens, given.oracle_coverage, given.oracle_tokens, given.w
    )
    return _result(found, DENSITY)


def _required_subset(raw: Mapping[str, Any]) -> Result:
    given = inputs.RequiredSubset.model_validate(raw)
    grades = _matrix(given.P_star)
    found = {variant: required_subset(grades, given.eta, variant) for variant in VARIANTS}
    return {
        variant: {
            "order": list(subset.rows),
            "marginal": list(subset.gains),
            "covered": list(subset.covered),
            "redundant": sorted(set(range(subset.n)) - set(subset.rows)),
        }
        for variant, subset in found.items()
    }


def _rank_metrics(raw: Mapping[str, Any]) -> Result:
    given = inputs.RankMetrics.model_validate(raw)
    gains = np.array([given.relevance.get(name, np.nan) for name in given.ranking])
    relevance = np.where(np.isnan(gains), gains, gains > 0)
    grades = np.array(list(given.relevance.values()))
    n_relevant = int((grades > 0).sum())
    found = {
        "recall": ranking.recall(relevance, n_relevant, given.cutoff),
        "map": ranking.average_precision(relevance, n_relevant, given.cutoff),
        "ndcg": ranking.ndcg(gains, grades, given.cutoff),
    }
    codes = {ranking.NO_RELEVANT: "no_relevant_passages"}
    return {name: _result(estimate, codes) for name, estimate in found.items()}


def _ragquesteval(raw: Mapping[str, Any]) -> Result:
    items = inputs.RagQuestEval.model_validate(raw).items
    found = ragquesteval.ragquesteval(
        [item.reference for item in items], [item.generated for item in items]
    )
    return {
        "recall": _result(found.recall, RAGQUESTEVAL),
        "precision_text": _result(found.precision, RAGQUESTEVAL),
        "precision_eq2": _result(found.precision_eq2, RAGQUESTEVAL),
        "f1": list(found.f1),
    }


def _rel_relprime(raw: Mapping[str, Any]) -> Result:
    given = inputs.RelRelPrime.model_validate(raw)
    found = relevance_seen.relevance_seen(given.output, given.rel, given.seen)
    return {
        "precision_rel": _result(found.precision, RELEVANCE_SEEN),
        "recall_rel": _result(found.recall, RELEVANCE_SEEN),
        "precision_relprime": _result(found.precision_seen, RELEVANCE_SEEN),
        "recall_relprime": _result(found.recall_seen, RELEVANCE_SEEN),
        "rel_prime": list(found.rel_prime),
        "n_unseen_cited": len(found.unseen),
        "retrieval_ceiling": _result(found.ceiling, RELEVANCE_SEEN),
        "precision_invariant": found.same_precision,
    }


def _threshold_analysis(raw: Mapping[str, Any]) -> Result:
    given = inputs.ThresholdAnalysis.model_validate(raw)
    found = threshold_analysis(
        [_matrix(topic.P_star, len(topic.final[0])) for topic in given.topics],
        [[_matrix(z, len(topic.final[0])) for z in topic.contexts] for topic in given.topics],
        [[_matrix([report]) for report in topic.final] for topic in given.topics],
        given.etas,
    )
    return {f"{threshold.eta:g}": _threshold(threshold) for threshold in found}


def _threshold(found: Threshold) -> Result:
    return {
        "cov_z": [system.value for system in found.contexts.systems],
        "cov_y": [system.value for system in found.reports.systems],
        "kendall_b": _correlation(found.tau),
        "mean_cov_z": found.contexts.mean.value,
        "sd_cov_z": found.contexts.sd.value,
        "mean_cov_y": found.reports.mean.value,
        "sd_cov_y": found.reports.sd.value,
    }


def _correlation(found: Correlation) -> Result:
    return {
        "value": found.value,
        "reason": found.reason,
        "p": found.p,
        "p_reason": found.p_reason,
        "p_method": found.p_method,
        "n": found.n,
        "dropped": found.missing,
    }


def _result(found: Estimate, codes: Mapping[str, str]) -> Result:
    """An estimate in the schema of the cases; a reason is the code that `codes` has for it."""
    return {"value": found.value, "reason": codes[found.reason] if found.reason else None}


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
