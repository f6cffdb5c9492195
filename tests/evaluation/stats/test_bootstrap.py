import numpy as np
import pytest
from scipy import stats

from evaluation.stats import bootstrap
from evaluation.stats.bootstrap import bootstrap_interval, cluster_bootstrap, resampled_sums
from evaluation.stats.cohen import cohen_kappa, kappa_from_matrix
from evaluation.stats.confusion import confusion_at_eta, item_cells, level_matrix
from evaluation.stats.correlation import pearson
from evaluation.stats.correlation_intervals import pearson_from_sums, pearson_terms
from evaluation.stats.estimate import Estimate
from evaluation.stats.fleiss import (
    ac1_from_sums,
    counts,
    fleiss_kappa,
    gwet_ac1,
    item_terms,
    kappa_from_sums,
)
from tests.evaluation.golden_cases import assert_close, load

WHOLE = Estimate(0.5, None, n=20, missing=1)


def mean_of(sums):
    return sums[:, 0] / sums[:, 1]


def summed(name, clusters):
    """A golden case's statistic of all items, the sums of each cluster, and that of such sums."""
    items = np.concatenate(clusters)
    if name == "fleiss_kappa":
        terms = [item_terms(counts(cluster, [0, 1])) for cluster in clusters]
        whole, statistic = fleiss_kappa(counts(items, [0, 1])), kappa_from_sums
    elif name == "pearson":
        all_terms = pearson_terms(items[:, 0], items[:, 1])
        terms = np.split(all_terms, np.cumsum([len(cluster) for cluster in clusters])[:-1])
        whole, statistic = pearson(items[:, 0], items[:, 1]), pearson_from_sums
    else:
        terms = [np.column_stack([cluster, np.ones(len(cluster))]) for cluster in clusters]
        whole, statistic = Estimate(items.mean(), None, len(items)), mean_of
    return whole, np.stack([cluster.sum(axis=0) for cluster in terms]), statistic


# The draws of these cases are SplitMix64's, which `evaluation.golden` answers exactly. NumPy's own
# draws must come as near as two generators can.
ANY_GENERATOR = [
    case for case in load("cluster_bootstrap") if "any_rng_B10000" in case.values[0]["expected"]
]


@pytest.mark.parametrize("case", ANY_GENERATOR)
def test_golden_with_our_generator(case):
    inputs, expected = case["input"], case["expected"]["any_rng_B10000"]
    clusters = [np.array(cluster, dtype=float) for cluster in inputs["clusters"]]
    result = cluster_bootstrap(*summed(inputs["statistic"], clusters), seed=1)
    assert (result.n_resamples, result.n_clusters) == (10_000, len(clusters))
    assert result.low == pytest.approx(expected["percentile"][0], abs=expected["tolerance"])
    assert result.high == pytest.approx(expected["percentile"][1], abs=expected["tolerance"])
    assert_close(result.value, case["expected"]["estimate"], case["tolerance"])


def test_by_hand():
    # Resamples 1, 2, 3, 4 and two without a value: the quartiles of four values lie 1/4 of the way
    # from the first gap's end to the next: 1 + 3/4 = 1.75 and 3 + 1/4 = 3.25. Their mean is 2.5 and
    # the sum of squares 2.25 + 0.25 + 0.25 + 2.25 = 5, so se = sqrt(5/3).
    result = bootstrap_interval(WHOLE, [3, np.nan, 1, 4, np.nan, 2], n_clusters=4, level=0.5)
    assert (result.low, result.high) == (1.75, 3.25)
    assert result.se == pytest.approx((5 / 3) ** 0.5)
    assert (result.n_resamples, result.n_undefined, result.n_clusters) == (6, 2, 4)
    assert (result.value, result.n, result.missing, result.seed) == (0.5, 20, 1, None)
    assert result.interval_reason is None


def test_resampled_sums_by_hand():
    # Clusters 1, 10 and 100. Draws 0 0 2 and 1 1 1: 1 + 1 + 100 and 30.
    sums = np.array([[1.0], [10], [100]])
    assert resampled_sums(sums, np.array([[0, 0, 2], [1, 1, 1]])).tolist() == [[102], [30]]


def test_statistics_of_sums_equal_those_of_the_drawn_items():
    generator = np.random.default_rng(4)
    a = generator.integers(0, 3, (6, 9)).astype(float)
    b = np.where(generator.random((6, 9)) < 0.6, a, generator.integers(0, 3, (6, 9)))
    b[2, :4] = np.nan
    pairs, levels = np.stack([a, b], axis=-1), [0, 1, 2]
    tables = [counts(topic, levels) for topic in pairs]
    terms = np.stack([item_terms(table).sum(axis=0) for table in tables])
    matrices = np.stack([level_matrix(*topic, levels) for topic in zip(a, b, strict=True)])
    cells = np.stack([item_cells(*topic, 1).sum(axis=0) for topic in zip(a, b, strict=True)])
    draws = generator.integers(0, 6, (8, 6))
    for index, draw in enumerate(draws):
        sample_a, sample_b = a[draw].ravel(), b[draw].ravel()
        table = np.concatenate([tables[topic] for topic in draw])
        resampled = resampled_sums(terms, draws)
        assert kappa_from_sums(resampled)[index] == pytest.approx(fleiss_kappa(table).value)
        assert ac1_from_sums(resampled)[index] == pytest.approx(gwet_ac1(table).value)
        kappas = kappa_from_matrix(resampled_sums(matrices, draws), levels, "quadratic")
        theirs = cohen_kappa(sample_a, sample_b, levels, "quadratic").value
        assert kappas[index] == pytest.approx(theirs)
        tp, fp, fn, _ = resampled_sums(cells, draws)[index]
        scores = confusion_at_eta(sample_a, sample_b, 1).answerable
        assert tp / (tp + fp) == pytest.approx(scores.precision.value)
        assert tp / (tp + fn) == pytest.approx(scores.recall.value)


def test_interval_comes_with_a_caution_and_few_topics_show_why():
    # Percentiles of the mean of 5 normal values are z sd/sqrt(5), sd with 5 below: 1.96 sqrt(4/5) =
    # 1.753 on the scale of t(4), which 0.845 of its values reach.
    generator, holds = np.random.default_rng(0), []
    for values in generator.normal(size=(400, 5)):
        whole = Estimate(float(values.mean()), None, 5)
        sums = np.column_stack([values, np.ones(5)])
        interval = cluster_bootstrap(whole, sums, mean_of, resamples=400)
        holds.append(interval.low <= 0 <= interval.high)
    assert np.mean(holds) == pytest.approx(0.84, abs=4 * np.sqrt(0.84 * 0.16 / 400))
    assert "0.84 of the time with 5" in interval.caution
    assert bootstrap_interval(WHOLE, [], n_clusters=1).caution is None


def test_against_scipys_bootstrap_of_a_mean():
    values = np.random.default_rng(3).gamma(2, size=25)
    sums = np.column_stack([values, np.ones(25)])
    ours = cluster_bootstrap(Estimate(values.mean(), None, 25), sums, mean_of)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=1)
    # Two draws of 10,000 differ by Monte-Carlo error alone: about se / 40 in a limit.
    near = theirs.standard_error / 8
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=near)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=near)
    assert ours.se == pytest.approx(theirs.standard_error, rel=0.05)


def test_seed_is_recorded_and_gives_the_same_again(monkeypatch):
    sums = np.column_stack([np.arange(7.0), np.ones(7)])
    result = cluster_bootstrap(WHOLE, sums, mean_of, resamples=300, seed=12)
    assert result.seed == 12
    assert cluster_bootstrap(WHOLE, sums, mean_of, resamples=300, seed=12) == result
    assert cluster_bootstrap(WHOLE, sums, mean_of, resamples=300, seed=13).se != result.se
    # However many are held at a time.
    monkeypatch.setattr(bootstrap, "BLOCK", 50)
    assert cluster_bootstrap(WHOLE, sums, mean_of, resamples=300, seed=12) == result


def test_resamples_without_a_value_are_counted():
    # Two topics in which all raters say 1, one with a 0: without the third kappa is undefined,
    # which happens in (2/3)^3 = 8/27 of the draws.
    matrix = counts([[1, 1, 1], [1, 1, 1], [0, 0, 1]], [0, 1])
    result = cluster_bootstrap(fleiss_kappa(matrix), item_terms(matrix), kappa_from_sums, seed=3)
    assert result.n_undefined == pytest.approx(10_000 * 8 / 27, abs=5 * 46)
    assert result.low == pytest.approx(-0.5)


def test_interval_is_missing_with_a_reason():
    whole = fleiss_kappa([[3, 0], [3, 0]])
    sums = item_terms([[3, 0], [3, 0]])
    result = cluster_bootstrap(whole, sums, kappa_from_sums, resamples=50)
    assert result.interval_reason == "no interval, because the value itself is undefined"
    assert (result.value, result.reason, result.low) == (None, whole.reason, None)
    assert result.n_undefined == 50
    result = cluster_bootstrap(WHOLE, sums[:1], kappa_from_sums)
    assert result.interval_reason == "no interval, because there are fewer than two clusters"
    result = cluster_bootstrap(WHOLE, sums, kappa_from_sums, resamples=50)
    assert result.interval_reason == "no interval, because none of 50 resamples has a value"


def test_single_resample_has_no_standard_error():
    result = bootstrap_interval(WHOLE, [0.4], n_clusters=3)
    assert (result.low, result.high, result.se) == (0.4, 0.4, None)


def test_refuses():
    with pytest.raises(ValueError, match="between 0 and 1"):
        bootstrap_interval(WHOLE, [1, 2], 2, level=95)
    with pytest.raises(ValueError, match="clusters x terms"):
        cluster_bootstrap(WHOLE, [1, 2], mean_of)
    with pytest.raises(ValueError, match="at least one resample"):
        cluster_bootstrap(WHOLE, [[1, 2], [1, 2]], mean_of, resamples=0)
