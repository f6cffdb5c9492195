"""Correlations without each topic: the same as computing each of them again."""

import numpy as np
import pytest

from evaluation.stats import correlation_intervals
from evaluation.stats.correlation import kendall_tau_b, pearson, spearman
from evaluation.stats.correlation_intervals import leave_one_out_correlations

METHODS = {"pearson": pearson, "spearman": spearman, "kendall": kendall_tau_b}


@pytest.mark.parametrize("block", [1, 50, 2_000_000])
@pytest.mark.parametrize(("n", "n_topics"), [(18, 6), (25, 25), (7, 3), (4, 2), (3, 3), (1, 1)])
def test_as_computed_anew(monkeypatch, n, n_topics, block):
    monkeypatch.setattr(correlation_intervals, "BLOCK", block)
    generator = np.random.default_rng(n)
    for turn in range(12):
        # Coverage of few questions has many ties, and reports that nobody finished have none.
        x, y = generator.integers(0, 6, (2, n)) / 5
        x[generator.random(n) < 0.1] = np.nan
        if turn == 0:
            x[:] = 0.2
        topics = generator.integers(0, n_topics, n).astype(str)
        correlations = leave_one_out_correlations(x, y, topics)
        for name, method in METHODS.items():
            leave_one_out = [
                method(x[topics != t], y[topics != t]).value for t in np.unique(topics)
            ]
            expected = [np.nan if value is None else value for value in leave_one_out]
            assert getattr(correlations, name) == pytest.approx(expected, abs=1e-12, nan_ok=True), (
                name
            )


def test_numbered_topics_without_texts_are_left_out_too():
    x, y, topics = np.array([1.0, 2, 2, 5]), np.array([2.0, 1, 4, 4]), np.array([0, 1, 1, 3])
    numbered = leave_one_out_correlations(x, y, topics, n_topics=5)
    padded = leave_one_out_correlations([*x, np.nan, np.nan], [*y, 1, 1], [*topics, 2, 4])
    for name in METHODS:
        values = getattr(numbered, name)
        assert len(values) == 5
        assert values == pytest.approx(getattr(padded, name), nan_ok=True)


def test_ranks_only_where_they_are_asked_for():
    x = np.arange(5.0)
    correlations = leave_one_out_correlations(x, x, x, ranked=False)
    assert correlations.pearson.tolist() == pytest.approx([1.0] * 5)
    assert (correlations.spearman, correlations.kendall) == (None, None)


def test_empty_lists_give_no_values():
    correlations = leave_one_out_correlations([], [], [])
    assert [
        len(values)
        for values in (correlations.pearson, correlations.spearman, correlations.kendall)
    ] == [0, 0, 0]
