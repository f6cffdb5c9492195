"""Arrays of report coverage and their correlations, against single rows and pairs."""

import numpy as np
import pytest
from scipy import stats

from evaluation.data.columns import Column
from evaluation.scoring.report_coverage import (
    Correlations,
    CoverageColumns,
    ReportRow,
    ReportRows,
    mean_coverage,
)
from evaluation.stats.correlation import pearson


def random_reports(seed, n=60, n_raters=4):
    """Return reports of three systems with a judge; a twentieth of the grades is missing."""
    draw = np.random.default_rng(seed)
    n_questions = draw.integers(0, 6, n)
    n_unrated = draw.binomial(n_questions[:, np.newaxis], 0.05, (n, n_raters + 1))
    n_answered = draw.binomial(n_questions[:, np.newaxis] - n_unrated, 0.5)
    is_rated = (n_unrated < n_questions[:, np.newaxis])[:, :n_raters]
    shares = n_answered[:, :n_raters] / np.maximum(n_questions, 1)[:, np.newaxis]
    counts = is_rated.sum(axis=1)
    means = np.where(counts, (shares * is_rated).sum(axis=1) / np.maximum(counts, 1), np.nan)
    return ReportRows(
        texts=np.arange(n),
        names=tuple(f"report {index}" for index in range(n)),
        systems=tuple(f"system {index % 3}" for index in range(n)),
        topics=tuple(f"topic {index // 3}" for index in range(n)),
        n_questions=n_questions,
        n_answered=n_answered,
        n_unrated=n_unrated,
        means=means,
        n_raters=n_raters,
    )


@pytest.mark.parametrize("seed", range(5))
def test_arrays_are_those_of_the_rows(seed):
    reports = random_reports(seed)
    rows = list(reports)
    assert all(isinstance(row, ReportRow) for row in rows)
    for index, row in enumerate(rows):
        judge = reports.judge_coverage[index]
        assert row.judge.value == (None if np.isnan(judge) else judge)
        columns = zip((*row.coverage, row.judge), reports.finished_coverage[index], strict=True)
        for estimate, finished in columns:
            assert np.isnan(finished) == (estimate.value is None or estimate.missing > 0)
            assert np.isnan(finished) or finished == estimate.value
        rated = [share.value for share in row.coverage if share.value is not None]
        assert row.mean == (pytest.approx(np.mean(rated)) if rated else None)
    assert list(reports[10:20:3]) == [rows[n] for n in (10, 13, 16, 19)]
    assert reports[-1] == rows[-1]
    with pytest.raises(IndexError):
        reports[len(rows)]


def test_means_are_of_the_finished_reports_of_each_system():
    reports = random_reports(7)
    n_columns = reports.finished_coverage.shape[1]
    assert all(len(means) == 1 for means in mean_coverage(reports, 1).values())
    for system, means in mean_coverage(reports, n_columns).items():
        assert len(means) == n_columns
        rows = [row for row in reports if row.system == system]
        for column, mean in enumerate(means):
            shares = [(*row.coverage, row.judge)[column] for row in rows]
            finished = [s.value for s in shares if s.value is not None and not s.missing]
            assert mean.value == pytest.approx(np.mean(finished))
            assert (mean.n, mean.missing) == (len(finished), len(rows) - len(finished))


@pytest.mark.parametrize("seed", range(5))
def test_each_pair_is_correlated_as_alone(seed):
    reports = random_reports(seed)
    coverage = reports.finished_coverage
    coverage[:, 2] = 0.5  # a constant list has no correlation
    coverage[2:, 3] = np.nan  # nor have two pairs
    raters = [Column(n, f"r{n}", "human", n) for n in range(5)]
    topics = np.unique(reports.topics, return_inverse=True)[1]
    finished = CoverageColumns(coverage, topics, 20, ranked=True)
    for a in range(5):
        for b in range(a + 1, 5):
            pair = Correlations(raters[a], raters[b], finished, (a, b))
            x, y = coverage[:, a], coverage[:, b]
            both = ~(np.isnan(x) | np.isnan(y))
            assert pair.pearson.value == pearson(x, y).value
            assert pair.pearson.missing == int((~both).sum())
            assert pair.r == (
                None if pair.pearson.value is None else pytest.approx(pair.pearson.value, abs=1e-12)
            )
            if {a, b} & {2, 3}:
                assert pair.r is pair.spearman.value is pair.kendall.value is None
            else:
                assert pair.spearman.value == stats.spearmanr(x[both], y[both]).statistic
                assert pair.kendall.value == stats.kendalltau(x[both], y[both]).statistic
                assert pair.spearman.low < pair.spearman.value < pair.spearman.high


def test_rank_correlations_of_many_reports_have_no_interval():
    reports = random_reports(3)
    raters = [Column(n, f"r{n}", "human", n) for n in range(2)]
    topics = np.unique(reports.topics, return_inverse=True)[1]
    pair = Correlations(
        *raters, CoverageColumns(reports.finished_coverage, topics, 20, ranked=False), (0, 1)
    )
    assert pair.pearson.low is not None
    assert pair.spearman.low is None
    reason = "no interval, because 60 reports are too many to rank again and again"
    assert pair.kendall.interval_reason == reason


def test_correlations_of_raters_who_finished_nothing_are_undefined():
    raters = [Column(n, f"r{n}", "human", n) for n in range(2)]
    columns = CoverageColumns(np.full((4, 2), np.nan), np.arange(4), 4, ranked=True)
    pair = Correlations(*raters, columns, (0, 1))
    assert pair.r is pair.pearson.value is pair.kendall.value is None
    assert pair.pearson.missing == 4
