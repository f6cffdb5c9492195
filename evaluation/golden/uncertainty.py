"""Answers to the golden cases of uncertainty: resamples, randomisation and predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy

from evaluation.golden import inputs
from evaluation.golden.results import Result, array, code, interval, standard_error
from evaluation.golden.splitmix import indices
from evaluation.stats import correlation, fleiss
from evaluation.stats.bootstrap import StatisticOfSums, bootstrap_interval, resampled_sums
from evaluation.stats.clusters import ratio
from evaluation.stats.correlation_intervals import pearson_from_sums, pearson_terms
from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.prediction_powered import ppi_mean
from evaluation.stats.randomisation import judge_swap, sign_flip


def _cluster_bootstrap(raw: Mapping[str, Any]) -> Result:
    if "clusters" not in raw:
        draws = inputs.Draws.model_validate(raw)
        return {"indices": indices(draws.seed, draws.n, (1, draws.draws))[0].tolist()}
    case = inputs.ClusterBootstrap.model_validate(raw)
    size = len(case.clusters)
    summed = _summed(case)
    values = np.empty(0)
    if size:
        resamples = indices(case.seed, size, (case.B, size))
        values = summed.statistic(resampled_sums(summed.sums, resamples))
    bootstrap = bootstrap_interval(summed.whole, values, size, level=case.level, seed=case.seed)
    leave_one_out = summed.statistic((1 - np.eye(size)) @ summed.sums)
    jackknife = jackknife_interval(summed.whole, leave_one_out, case.level)
    return {
        "estimate": bootstrap.value,
        "n_undefined_resamples": bootstrap.n_undefined,
        "n_clusters": bootstrap.n_clusters,
        "percentile": interval(bootstrap),
        "bootstrap_se": bootstrap.se,
        "reason": code(bootstrap.interval_reason),
        "jackknife_se": standard_error(jackknife, case.level, size),
        "jackknife_t_95": interval(jackknife),
    }


class _Summed(NamedTuple):
    whole: Estimate
    sums: FloatArray
    statistic: StatisticOfSums


def _summed(case: inputs.ClusterBootstrap) -> _Summed:
    """The statistic of all items, the sums of each cluster, and the statistic of such sums."""
    sizes = [len(cluster) for cluster in case.clusters]
    items = np.array([item for cluster in case.clusters for item in cluster], dtype=np.float64)
    if not len(items) and case.statistic != "mean":
        items = items.reshape(0, 2)
    terms, statistic, whole = _statistic(case.statistic, items)
    sums = np.zeros((len(sizes), terms.shape[1]))
    np.add.at(sums, np.repeat(np.arange(len(sizes)), sizes), terms)
    return _Summed(whole, sums, statistic)


def _statistic(name: str, items: FloatArray) -> tuple[FloatArray, StatisticOfSums, Estimate]:
    if name == "fleiss_kappa":
        # Categories that nobody uses change nothing, but a scale has at least two.
        counts = fleiss.counts(items, np.union1d(items, [0, 1]))
        return fleiss.item_terms(counts), fleiss.kappa_from_sums, fleiss.fleiss_kappa(counts)
    if name == "pearson":
        x, y = items.T
        return pearson_terms(x, y), pearson_from_sums, correlation.pearson(x, y)
    terms = np.column_stack([items, np.ones(len(items))])
    whole = Estimate(None, "undefined, because there are no items", 0)
    if len(items):
        whole = Estimate(float(items.mean()), None, len(items))
    return terms, lambda sums: ratio(sums[:, 0], sums[:, 1]), whole


def _judge_swap_test(raw: Mapping[str, Any]) -> Result:
    case = inputs.JudgeSwap.model_validate(raw)
    topics = np.repeat(np.arange(len(case.human)), [len(topic) for topic in case.human])
    sides = (case.human, case.judge_a, case.judge_b)
    human, a, b = (array([grade for topic in side for grade in topic]) for side in sides)
    swap = judge_swap(human, a, b, case.labels, topics)
    return {
        "kappa_a": swap.kappa_a,
        "kappa_b": swap.kappa_b,
        "difference": swap.value,
        "p_two_sided": swap.p,
        "n_permutations": swap.n_arrangements,
    }


def _paired_randomisation(raw: Mapping[str, Any]) -> Result:
    case = inputs.PairedRandomisation.model_validate(raw)
    flip = sign_flip(case.differences)
    smallest = flip.smallest_p
    if flip.n and not any(case.differences):
        # The cases say of no difference at all what as many differences could have reached.
        smallest = 2.0 ** (1 - flip.n)
    return {"mean": flip.value, "p_two_sided": flip.p, "smallest_possible_p": smallest}


def _ppi_mean(raw: Mapping[str, Any]) -> Result:
    case = inputs.PpiMean.model_validate(raw)
    sides = [array(side) for side in (case.human, case.llm_on_human, case.llm_unlabelled)]
    estimate = ppi_mean(*sides, lam=case.lam)
    normal = ppi_mean(*sides, lam=case.lam, reference="normal")
    return {
        "lam": estimate.lam,
        "estimate": estimate.value,
        "se_ddof0": normal.se,
        "se_ddof1": estimate.se,
        "ci95_z_ppi_py": interval(normal),
        "ci95_t_recommended": interval(estimate),
        "t_quantile": float(scipy.stats.t.ppf(0.975, estimate.n - 1)) if estimate.n > 1 else None,
        # With no weight on the judge it is the mean of the human values.
        "classical_t": interval(ppi_mean(*sides, lam=0)),
    }


FAMILIES: dict[str, Callable[[dict[str, Any]], Result]] = {
    "cluster_bootstrap": _cluster_bootstrap,
    "judge_swap_test": _judge_swap_test,
    "paired_randomisation": _paired_randomisation,
    "ppi_mean": _ppi_mean,
}
