"""Simulated bias and interval coverage of the estimates from a sample of reports.

    make bench-label-samples [STUDIES=4000]

Each study is made up again: topics, reports of 12 questions, what people answer, and a judge's grades
from 0 to 5. A pilot of other topics says how often people say yes at each grade, so the sample's chances
are uneven, as on the page. The mean that all studies come from is known.

In `related` the judge is generous where reports answer little, so that what it gets wrong, the
chances and the coverage go together; in `unrelated` each report has its own rate of errors, both
ways alike; in `useless` the grades are those of other reports. Beside the page's own estimate stand
what it replaced and what could be had instead.
"""

from datetime import UTC, datetime
from functools import cache

import numpy as np
from scipy import stats

from evaluation.labelling.data import LabelData, Report, Sample
from evaluation.labelling.estimates import system_rows
from evaluation.stats.assisted_mean import sampling_variance
from evaluation.stats.coverage_gap import answerable_by_grade, expected_gap
from evaluation.stats.prediction_powered import ppi_mean
from evaluation.stats.sampling import probabilities, systematic

LEVELS = range(6)
ETA = 3
QUESTIONS = 12
# Of Beta distributions: the share of questions that the reports of a topic answer.
TOPICS = {"related": (1.5, 4), "unrelated": (2, 2), "useless": (2, 2)}
SYSTEMS = ((1, 3), (2, 2), (3, 1))
SIZES = ((10, 30, 0), (15, 50, 0), (10, 36, 6), (5, 40, 10))


def truth(scenario, n_systems):
    """Return the mean of the distribution that all studies come from."""
    means = [a / (a + b) for a, b in [TOPICS[scenario], *SYSTEMS]]
    return means[0] if n_systems == 1 else (means[0] + np.mean(means[1:])) / 2


def cells(generator, scenario, n_topics, n_systems=1):
    """Simulate people's answers (0 or 1) and judge's grades, both reports x questions."""
    share = generator.beta(*TOPICS[scenario], (n_topics, 1))
    if n_systems > 1:
        system_shares = [generator.beta(*SYSTEMS[system], n_topics) for system in range(n_systems)]
        share = (share + np.transpose(system_shares)) / 2
    size = (share.size, QUESTIONS)
    yes = generator.random(size) < share.reshape(-1, 1)
    luck = generator.random(size)
    if scenario == "related":
        of_yes = np.select([luck < 0.6, luck < 0.85, luck < 0.95], [5, 4, 3], 2)
        of_no = np.select([luck < 0.35, luck < 0.4, luck < 0.8], [3, 4, 0], 1)
    else:
        wrong = generator.uniform(0, 0.4, (len(yes), 1))
        of_yes = np.select([luck < wrong, luck < 0.5 + wrong / 2], [2, 4], 5)
        of_no = np.select([luck < wrong, luck < 0.5 + wrong / 2], [3, 1], 0)
    grades = np.where(yes, of_yes, of_no).astype(float)
    return yes.astype(float), grades[::-1] if scenario == "useless" else grades


@cache
def pilot_shares(scenario):
    """Return the share of yes by people at each grade, from other topics."""
    yes, grades = cells(np.random.default_rng(1), scenario, 2000)
    return answerable_by_grade(grades.ravel(), yes.ravel(), LEVELS)


def study(generator, scenario, size, n_systems=1):
    """Simulate the page data of a study; `size`: (drawn, all reports, labelled before)."""
    n, total, before = size
    yes, grades = cells(generator, scenario, total // n_systems, n_systems)
    human, judge = yes.mean(axis=1), (grades >= ETA).mean(axis=1)
    order = generator.permutation(total)
    first, free = order[:before], np.sort(order[before:])
    chances = np.full(total, np.nan)
    gap = expected_gap(grades, ETA, pilot_shares(scenario), LEVELS)
    chances[free] = probabilities(gap[free], n)
    is_sampled = np.zeros(total, dtype=bool)
    is_sampled[free[systematic(chances[free], int(generator.integers(2**32)))]] = True
    labelled = is_sampled.copy()
    labelled[first] = True
    sample = Sample(1, "", n, datetime.now(UTC), chances, is_sampled)
    return LabelData(
        selection=None,
        reports=tuple(
            Report(index, f"r{index}", f"s{index % n_systems}", index // n_systems, "", True)
            for index in range(total)
        ),
        judge=judge,
        human=np.where(labelled, human, np.nan),
        n_people=labelled.astype(int),
        gap=gap,
        shares=pilot_shares(scenario),
        levels=tuple(LEVELS),
        n_cells=0,
        samples=(sample,),
    )


def both_now(data):
    """Return the estimate in the last row of the page: its only system, or all of them."""
    return system_rows(data)[-1].both


def unweighted(data):
    """Return the former "Both" estimate: prediction-powered, all reports with one chance."""
    labelled = ~np.isnan(data.human)
    return ppi_mean(data.human[labelled], data.judge[labelled], data.judge[~labelled])


def people_plain(data):
    """Return the former "People alone" estimate: the mean of the labels."""
    labels = data.human[~np.isnan(data.human)]
    return _interval(labels.mean(), labels.var(ddof=1) / len(labels), len(labels) - 1)


def over_topics(data):
    """Return the former sample interval: t over judge + (human - judge)/chance."""
    values = data.judge + np.nan_to_num(data.human - data.judge) / _chances(data)
    return _interval(values.mean(), values.var(ddof=1) / len(values), len(values) - 1)


def people_weighted(data):
    """Return the estimate of people alone, by inverse-probability weights that sum to 1."""
    return _calibrated(data, np.zeros_like(data.judge))


def tuned(data):
    """Return the estimate with the judge's best weight from 0 to 1 for these labels."""
    labelled = ~np.isnan(data.human)
    f, y = data.judge[labelled], data.human[labelled]
    weights = 1 / _chances(data)[labelled]
    spread = np.average((f - np.average(f, weights=weights)) ** 2, weights=weights)
    shared = np.average(
        (f - np.average(f, weights=weights)) * (y - np.average(y, weights=weights)), weights=weights
    )
    return _calibrated(data, data.judge * np.clip(shared / spread if spread else 0, 0, 1))


def _calibrated(data, judge):
    """Return the judge's mean plus the weighted mean of the gaps; weights sum to 1."""
    labelled, chances = ~np.isnan(data.human), _chances(data)
    gaps, weights = (data.human - judge)[labelled], 1 / chances[labelled]
    weights /= weights.sum()
    off = gaps - weights @ gaps
    by_chance = chances[labelled] < 1
    of_sampling = sampling_variance((weights * off)[by_chance], chances[labelled][by_chance])
    few = 1 - (weights**2).sum()
    slope = 2 * weights @ ((judge[labelled] - weights @ judge[labelled]) * off) / few
    of_topics = judge.var(ddof=1) + slope + weights @ off**2 / few
    return _interval(
        judge.mean() + weights @ gaps,
        of_sampling + max(of_topics, 0) / len(judge),
        sum(by_chance) - 1,
    )


def _chances(data):
    return np.where(np.isnan(data.samples[0].chances), 1.0, data.samples[0].chances)


def _interval(value, variance, df):
    reach = stats.t.ppf(0.975, df) * np.sqrt(variance)
    return value, value - reach, value + reach


ESTIMATES = {
    "both, now": both_now,
    "both, as it was": unweighted,
    "people, as it was": people_plain,
    "sample, as it was": over_topics,
    "people, weighted": people_weighted,
    "judge tuned": tuned,
}


def simulate(scenario, size, studies, *, n_systems=1, seed=0, estimates=("both, now",)):
    """Return for each estimate an array of studies x (value, low, high)."""
    generator = np.random.default_rng(seed)
    intervals = {name: [] for name in estimates}
    for _ in range(studies):
        data = study(generator, scenario, size, n_systems)
        for name in estimates:
            estimate = ESTIMATES[name](data)
            intervals[name].append(
                estimate
                if isinstance(estimate, tuple)
                else (estimate.value, estimate.low, estimate.high)
            )
    return {name: np.array(rows) for name, rows in intervals.items()}


def summary(rows, mean):
    """Return bias, its standard error, coverage, and half-width over that needed for 95%."""
    value, low, high = rows.T
    spread = value.std(ddof=1)
    return (
        value.mean() - mean,
        spread / np.sqrt(len(rows)),
        ((low <= mean) & (mean <= high)).mean(),
        ((high - low) / 2).mean() / (1.96 * spread),
    )


def smoke() -> str:
    """Simulate three studies of each kind with all estimates; see bench.smoke."""
    for scenario in TOPICS:
        intervals = simulate(scenario, SIZES[0], 3, estimates=ESTIMATES)
        for name, rows in intervals.items():
            if rows.shape != (3, 3) or not np.isfinite(rows).all():
                raise SystemExit(f"{scenario}, {name}: not three intervals: {rows.tolist()}")
    return f"{len(ESTIMATES)} estimates in each of {len(TOPICS)} scenarios"


def main(studies=4_000):
    page_estimates = [name for name in ESTIMATES if name == "both, now"]
    runs = [(scenario, size, 1, list(ESTIMATES)) for scenario in TOPICS for size in SIZES]
    runs += [(scenario, (15, 60, 9), 3, page_estimates) for scenario in TOPICS]
    for scenario, size, n_systems, names in runs:
        mean = truth(scenario, n_systems)
        print(f"\n{scenario}: {size[0]} of {size[1] - size[2]}, {size[2]} labelled before", end="")
        print(f", {n_systems} systems" if n_systems > 1 else "")
        intervals = simulate(scenario, size, studies, n_systems=n_systems, estimates=names)
        for name, rows in intervals.items():
            bias, error, holds, width = summary(rows, mean)
            print(f"  {name:18s} {bias:+.4f} (se {error:.4f})  {holds:.3f}  {width:.2f}")
