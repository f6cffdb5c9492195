"""Benchmark of the cluster bootstrap of Fleiss' kappa against statsmodels loops.

    python -m bench.bootstrap          # or make bench-metrics

450 items x 3 raters in 30 topics, 10,000 resamples of topics. Ours starts from ratings and ends
with an interval. The prebuilt loop builds statsmodels' table of counts once and takes rows of it
for each resample; the plain loop builds the table of each resample from its ratings.
Times of one run only mean something beside each other: what is to be read is the ratio.
"""

import gc
import sys
import time
from statistics import median

import numpy as np
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from evaluation.stats.bootstrap import cluster_bootstrap, resampled_sums
from evaluation.stats.fleiss import counts, fleiss_kappa, item_terms, kappa_from_sums

TOPICS, ITEMS, RATERS = 30, 15, 3
RESAMPLES = 10_000
# The plain loop is measured on this many of the resamples in each round, and scaled.
PLAIN = 500
ROUNDS = 5
SAME = 1e-9
AT_LEAST = 40  # times the speed of the prebuilt loop


def ratings():
    """Simulate topics x items x raters, 0 or 1: raters report one truth, with errors."""
    generator = np.random.default_rng(11)
    truth = generator.random((TOPICS, ITEMS, 1)) < generator.beta(2, 2, (TOPICS, 1, 1))
    wrong = generator.random((TOPICS, ITEMS, RATERS)) < 0.15
    return (truth != wrong).astype(int)


def table(grades):
    """Return counts (items x categories) for ours, and the sums of each topic."""
    matrix = counts(grades.reshape(-1, RATERS), [0, 1])
    return matrix, item_terms(matrix).reshape(TOPICS, ITEMS, -1).sum(axis=1)


def ours(grades):
    matrix, sums = table(grades)
    return cluster_bootstrap(fleiss_kappa(matrix), sums, kappa_from_sums, resamples=RESAMPLES)


def prebuilt(grades, draws):
    whole, _ = aggregate_raters(grades.reshape(-1, RATERS), n_cat=2)
    tables = whole.reshape(TOPICS, ITEMS, 2)
    return [statsmodels_kappa(tables[topics].reshape(-1, 2)) for topics in draws]


def plain(grades, draws):
    built = (aggregate_raters(grades[topics].reshape(-1, RATERS), n_cat=2) for topics in draws)
    return [statsmodels_kappa(counted) for counted, _ in built]


def timed(function):
    gc.collect()
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def measure() -> tuple[dict[str, float], float, float]:
    """Return median seconds of each, the largest difference of kappa, and of the limits."""
    grades = ratings()
    draws = np.random.default_rng(5).integers(0, TOPICS, (RESAMPLES, TOPICS))
    seconds = {"ours": [], "prebuilt": [], "plain": []}
    ours(grades)
    for _ in range(ROUNDS):
        # A hundredth of a second is short beside what else the machine does: the median of ten.
        runs = [timed(lambda: ours(grades)) for _ in range(10)]
        seconds["ours"].append(median(elapsed for elapsed, _ in runs))
        elapsed, theirs = timed(lambda: prebuilt(grades, draws))
        seconds["prebuilt"].append(elapsed)
        elapsed, slow = timed(lambda: plain(grades, draws[:PLAIN]))
        seconds["plain"].append(elapsed * RESAMPLES / PLAIN)
    same = kappa_from_sums(resampled_sums(table(grades)[1], draws))
    largest = max(np.abs(same - theirs).max(), np.abs(same[:PLAIN] - slow).max())
    if largest > SAME:
        sys.exit(f"A resample's kappa differs from that of statsmodels by {largest:.0e}.")
    interval = runs[-1][1]
    limits = np.quantile(theirs, [0.025, 0.975]) - [interval.low, interval.high]
    return (
        {name: median(elapsed) for name, elapsed in seconds.items()},
        largest,
        np.abs(limits).max(),
    )


def lines() -> list[str]:
    """Return the report: the timings and whether the ratio is met; takes half a minute."""
    seconds, largest, limits = measure()
    our_seconds = seconds.pop("ours")
    ratio = seconds["prebuilt"] / our_seconds
    labels = {
        "prebuilt": "statsmodels, tables built once",
        "plain": f"statsmodels, plain loop (measured on {PLAIN:,} resamples, scaled)",
    }
    return [
        f"cluster bootstrap of Fleiss' kappa, {TOPICS * ITEMS} items x {RATERS} raters in {TOPICS} "
        f"topics, {RESAMPLES:,} resamples, median of {ROUNDS} rounds in turn",
        f"{our_seconds:>9.4f} s          here, from ratings to the interval",
        *(
            f"{elapsed:>9.4f} s {elapsed / our_seconds:>7,.0f}x {labels[name]}"
            for name, elapsed in seconds.items()
        ),
        f"largest difference of a resample's kappa on the same draws {largest:.0e}; "
        f"of the limits on other draws {limits:.4f}",
        f"at least {AT_LEAST}x the prebuilt loop: {'yes' if ratio >= AT_LEAST else 'NO'}",
    ]


def smoke() -> str:
    """Compare 200 resamples with statsmodels; see bench.smoke."""
    globals().update(RESAMPLES=200, PLAIN=20, ROUNDS=1)
    lines()
    return f"kappa of {RESAMPLES} resamples equals statsmodels'"


def main() -> None:
    text = lines()
    print("\n".join(text))
    if text[-1].endswith("NO"):
        sys.exit(1)


if __name__ == "__main__":
    main()
