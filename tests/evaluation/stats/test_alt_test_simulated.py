"""Size of the alternative annotator test, simulated: by topics, and as published."""

import numpy as np
import pytest
import scipy

from evaluation.stats.clusters import clustered_mean

EPSILON = 0.15
N_STUDIES = 2_000
N_PAIRS = 20  # of a topic
WINS = 0.5  # mean chance that only the person is nearest; of only the judge, less epsilon


def rejections(n_topics: int, correlation: float) -> tuple[float, float]:
    """Return the shares of studies with p < 0.05, by topics and by pairs, if d is epsilon."""
    generator = np.random.default_rng(round(1_000 * correlation) + n_topics)
    topics = np.repeat(np.arange(n_topics), N_PAIRS)
    variance = 2 * WINS - EPSILON - EPSILON**2
    reach = np.sqrt(3 * correlation * variance)  # of a uniform effect of the topic
    by_topics = by_pairs = 0
    for _ in range(N_STUDIES):
        effects = generator.uniform(-reach, reach, n_topics)[topics]
        draws = generator.random(len(topics))
        person, judge = WINS + effects / 2, WINS - EPSILON - effects / 2
        values = (draws < person).astype(float) - (draws >= 1 - judge)
        mean = clustered_mean(values, topics)
        error = values.std(ddof=1) / np.sqrt(len(values))
        by_topics += _p(mean.value, mean.error, n_topics - 1) < 0.05
        by_pairs += _p(mean.value, error, len(values) - 1) < 0.05
    return by_topics / N_STUDIES, by_pairs / N_STUDIES


def _p(mean: float, error: float, freedom: int) -> float:
    return float(scipy.stats.t.cdf((mean - EPSILON) / error, freedom))


@pytest.mark.parametrize("n_topics", [10, 20])
@pytest.mark.parametrize("correlation", [0.1, 0.2, 0.3])
def test_size_is_kept_by_topics_and_not_by_pairs(n_topics, correlation):
    by_topics, by_pairs = rejections(n_topics, correlation)
    # Three standard errors of a share of 0.05 in so many studies are 0.015.
    assert 0.035 <= by_topics <= 0.065
    assert by_pairs > 0.1
