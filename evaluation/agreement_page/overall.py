"""Two more readings of the agreement of all raters: another interval, and another coefficient."""

from __future__ import annotations

import numpy as np

from evaluation.agreement import fleiss
from evaluation.agreement.bootstrap import Bootstrap, cluster_bootstrap
from evaluation.agreement.estimate import Estimate
from evaluation.agreement.jackknife import jackknife_interval
from evaluation.agreement.krippendorff import (
    Metric,
    alpha_from_coincidences,
    coincidences,
    krippendorff_alpha,
)
from evaluation.clusters import topic_sums, without_each_topic
from evaluation.matrices import RatingMatrix
from evaluation.selection import Selection

SEED = 0  # of the resamples: the same data give the same interval everywhere


def kappa_bootstrap(matrix: RatingMatrix, kappa: Estimate) -> Bootstrap:
    """Fleiss' kappa with the interval from drawing topics anew, beside the jackknife's."""
    tallies = fleiss.counts(matrix.grades, np.array(matrix.selection.levels))
    sums = topic_sums(fleiss.item_terms(tallies), matrix.topic)
    return cluster_bootstrap(kappa, sums, fleiss.kappa_from_sums, seed=SEED)


def alpha_metric(selection: Selection) -> Metric:
    """Answers of two kinds have no order; more than two levels are a scale."""
    return "nominal" if len(selection.levels) == 2 else "ordinal"


def alpha(matrix: RatingMatrix) -> Estimate:
    """Krippendorff's alpha of all raters, with its interval over topics."""
    levels, metric = matrix.selection.levels, alpha_metric(matrix.selection)
    ratings = matrix.grades.T
    units = coincidences(ratings, levels).reshape(matrix.n_items, len(levels) ** 2)
    deleted = without_each_topic(units, matrix.topic).reshape(-1, len(levels), len(levels))
    return jackknife_interval(
        krippendorff_alpha(ratings, metric), alpha_from_coincidences(deleted, levels, metric)
    )
