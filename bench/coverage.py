"""Simulated coverage of the 95% intervals that the site prints, by the number of topics.

    make bench-coverage [STUDIES=2000]

Each study draws its topics again from a population whose true value is known; counted is how often
the interval that this code computes holds the true value. Prints the table of docs/metrics.md. The
seed is fixed: the same version prints the same numbers. The models:

- Grades. A topic has the probability p ~ Beta(2, 2) that a pair of it is answerable, and 10 pairs.
  Three people report the truth with an error that is the topic's own, Beta(3, 17) (0.15 on
  average), and a judge with twice that. Grades from 0 to 5 are the same two errors on a normal
  scale: truth N(topic, 1), topic N(0, 0.7^2), a person's noise N(0, 0.6^2), a judge's N(0.3, 0.9^2),
  cut into six levels.
- Scores of systems. A system's value on a topic is Binomial(10, p) / 10, logit p = system + topic +
  (system and topic), normal with sd s, 0.8 and 0.6. "Near 1" has a mean of about 0.95. Of two
  metrics the second shares the topics and half of the variance of (system and topic), and its
  systems correlate with the first's by 0.9. Systems are far apart (s = 1.5), close (0.5) or very
  close (0.15). The true order is that of the systems' expected values.
- Reports. Three systems a topic; a report has its own probability that a question is answered, and
  two people answer its 15 questions with errors of 0.15.
- A judge's probabilities. 40 ratings a topic; logit q = topic (sd 0.6) + N(0, 1.6^2). Calibrated
  judge: people say yes with q. Overconfident one: logit p = 0.6 logit q - 0.3 + topic (sd 0.5).
- Highlights. Two people mark a unit in each of five texts of 200 characters a topic; the second starts and
  ends within 12 characters of the first, and marks elsewhere in a share of texts that is the topic's.
- A mixed model. Three systems, two raters, normal: topic sd 0.1, rater 0.03, system and topic 0.08,
  residual 0.08.
- Gold items: n answers in the place of topics, right with 0.9.
- Tests of a judge: 5 pairs a topic, each asked 3 times. A grade changes with the probability of its pair,
  Beta around that of its topic, Beta(20 rate, 20 (1 - rate)); three of four changes are upwards, all by one.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from evaluation.agreement.threshold import Scale, at_eta
from evaluation.quality.signals.gold import accuracy
from evaluation.scoring.ordering import _tau_of_sums, order_agreement
from evaluation.scoring.table import mean_over_topics
from evaluation.stats import fleiss
from evaluation.stats.assisted_mean import assisted_mean
from evaluation.stats.bootstrap import cluster_bootstrap
from evaluation.stats.calibration import calibration
from evaluation.stats.classes import class_scores
from evaluation.stats.clusters import (
    leave_one_out_sums,
    level_sums,
    share,
    topic_sums,
)
from evaluation.stats.correlation import kendall_tau_b, pearson, spearman
from evaluation.stats.correlation_intervals import leave_one_out_correlations
from evaluation.stats.equivalence import equivalence
from evaluation.stats.estimate import Estimate
from evaluation.stats.intraclass import intraclass
from evaluation.stats.jackknife import jackknife, jackknife_interval
from evaluation.stats.judge_noise import PairedGrades, mean_change, share_of_changes
from evaluation.stats.krippendorff import (
    alpha_from_coincidences,
    coincidences,
    krippendorff_alpha,
)
from evaluation.stats.majority import majority_of, relative_drop
from evaluation.stats.mixed_model import mixed_model
from evaluation.stats.pair_counts import PairCounts
from evaluation.stats.prediction_powered import ppi_mean
from evaluation.stats.sampling import systematic
from evaluation.stats.unitizing import unitised_alpha

SIZES = (5, 10, 20, 50)
STUDIES = 2_000
SEED = 20_261_125
LARGE = 20_000  # topics of a simulated population
LEVELS = tuple(range(6))
TENTHS = np.linspace(0, 1, 11)
JACKKNIFE, T, BOOTSTRAP = "jackknife, t", "t over topics", "percentile bootstrap"


class Interval(NamedTuple):
    """An interval of a study, and the true value; `low` is None where there is none."""

    low: float | None
    high: float | None
    truth: float


Study = Mapping[tuple[str, str], Interval]


class Model(NamedTuple):
    """`draw` makes the intervals of one study of so many topics, by statistic and method.

    `share` is the part of the studies that is drawn, of what is slow.
    """

    draw: Callable[[np.random.Generator, int], Study]
    share: float = 1.0


def interval_of(estimate: Estimate, truth: float) -> Interval:
    return Interval(estimate.low, estimate.high, truth)


# Grades


def binary_grades(generator, n_topics, n_pairs=10):
    """Simulate topics x pairs x (three people, the judge), 0 or 1."""
    truth = generator.random((n_topics, n_pairs, 1)) < generator.beta(2, 2, (n_topics, 1, 1))
    error = generator.beta(3, 17, (n_topics, 1, 1)) * np.array([1.0, 1.0, 1.0, 2.0])
    return (truth != (generator.random((n_topics, n_pairs, 4)) < error)).astype(float)


def ordinal_grades(generator, n_topics, n_pairs=10):
    """Simulate the same for grades from 0 to 5."""
    truth = generator.normal(0, 1, (n_topics, n_pairs, 1))
    truth = truth + generator.normal(0, 0.7, (n_topics, 1, 1))
    noise = generator.normal([0, 0, 0, 0.3], [0.6, 0.6, 0.6, 0.9], (n_topics, n_pairs, 4))
    return np.digitize(truth + noise, [-1.2, -0.6, 0.0, 0.6, 1.2]).astype(float)


def binary_statistics(grades, *, bootstrap=True):
    """Return all statistics of grades 0 and 1, by name and method."""
    n_topics, n_pairs, _ = grades.shape
    items, topics = grades.reshape(-1, 4), np.repeat(np.arange(n_topics), n_pairs)
    people, judge = items[:, :3], items[:, 3]
    tallies = fleiss.counts(people, [0, 1])
    terms = fleiss.item_terms(tallies)
    sums = topic_sums(terms, topics)
    deleted = leave_one_out_sums(sums)
    kappa = fleiss.fleiss_kappa(tallies)
    estimates = {
        ("Fleiss' kappa", JACKKNIFE): jackknife_interval(kappa, fleiss.kappa_from_sums(deleted)),
        ("Gwet's AC1", JACKKNIFE): jackknife_interval(
            fleiss.gwet_ac1(tallies), fleiss.ac1_from_sums(deleted)
        ),
        ("Percent agreement, prevalence and other shares of items", JACKKNIFE): share(
            terms[:, 0], np.ones(len(terms)), topics, "none"
        ),
        ("Cohen's kappa", JACKKNIFE): PairCounts.of(
            items[:, 0], items[:, 1], (0, 1), topics
        ).kappa(),
        ("Scott's pi against the majority", JACKKNIFE): PairCounts.of(
            items[:, 0], majority_of(items[:, 1:3], [0, 1]), (0, 1), topics
        ).scott(),
        ("Lower by: a judge's kappa and a rater's", JACKKNIFE): lower_by(items, topics),
    }
    if bootstrap:
        estimates["Fleiss' kappa", BOOTSTRAP] = cluster_bootstrap(
            kappa, sums, fleiss.kappa_from_sums
        )
    scale = Scale((0, 1), 1)
    rows, columns = np.repeat(topics, 3), np.repeat(judge, 3)
    against = at_eta(
        level_sums(people.ravel(), columns, ((0, 1), (0, 1)), rows), scale, scale, 1, 0
    )
    estimates |= {
        ("Precision of a judge", JACKKNIFE): against.precision_answerable,
        ("Recall of a judge", JACKKNIFE): against.recall_answerable,
        ("F1 of a judge", JACKKNIFE): against.f1_answerable,
        ("Binary kappa of a judge", JACKKNIFE): against.cohen_binary,
    }
    return estimates


def lower_by(items, topics):
    judge, rater, majority = items[:, 3], items[:, 0], majority_of(items[:, 1:3], [0, 1])
    sides = [PairCounts.of(side, majority, (0, 1), topics) for side in (rater, judge)]
    deleted = [counts.scott_leave_one_out for counts in sides]
    kappas = [counts.scott() for counts in sides]
    above = np.where(deleted[0] > 0, deleted[0], np.nan)
    return jackknife_interval(relative_drop(*kappas), 1 - deleted[1] / above)


def ordinal_statistics(grades):
    """Return all statistics of grades 0 to 5, by name and method."""
    n_topics, n_pairs, _ = grades.shape
    items, topics = grades.reshape(-1, 4), np.repeat(np.arange(n_topics), n_pairs)
    people = items[:, :3]
    deleted = leave_one_out_sums(coincidences(people.T, LEVELS, topics))
    classes = class_scores(level_sums(items[:, 0], items[:, 3], (LEVELS, LEVELS), topics), LEVELS)
    differences = items[:, 0] - items[:, 3]
    return {
        ("Krippendorff's alpha, ordinal", JACKKNIFE): jackknife_interval(
            krippendorff_alpha(people.T, "ordinal"),
            alpha_from_coincidences(deleted, LEVELS, "ordinal"),
        ),
        ("Quadratic kappa", JACKKNIFE): PairCounts.of(
            items[:, 0], items[:, 3], LEVELS, topics
        ).kappa("quadratic"),
        ("Macro F1 of six grades", JACKKNIFE): classes.macro.f1,
        ("Mean grade, mean distance, bias", JACKKNIFE): share(
            differences, np.ones(len(items)), topics, "none"
        ),
    }


def intraclass_statistics(grades):
    n_topics, n_pairs, _ = grades.shape
    people, topics = grades[:, :, :3].reshape(-1, 3), np.repeat(np.arange(n_topics), n_pairs)
    return {
        ("ICC(2,1)", JACKKNIFE): jackknife(lambda rows: intraclass(people[rows]).single, topics)
    }


def true_intraclass():
    return {
        ("ICC(2,1)", JACKKNIFE): intraclass(
            ordinal_grades(population(2), 5 * LARGE)[:, :, :3].reshape(-1, 3)
        ).single.value
    }


def population(stream):
    """Return the generator of a population, separate from those of the studies."""
    return np.random.default_rng([SEED, stream])


def of_population(statistics, draw, **options):
    """Return a study whose true values are the statistics of a large population."""

    @cache
    def truths():
        estimates = statistics(draw(population(1), LARGE), **options)
        return {name: estimate.value for name, estimate in estimates.items()}

    def study(generator, n_topics):
        values = truths()
        estimates = statistics(draw(generator, n_topics))
        return {
            name: interval_of(estimate, values.get(name, values.get((name[0], JACKKNIFE))))
            for name, estimate in estimates.items()
        }

    return study


# Scores of systems


ORDERS = {
    ("far apart", 21): 1.5,
    ("close", 21): 0.5,
    ("very close", 21): 0.15,
    ("close", 6): 0.5,
}
"""The sd of the systems by how far apart they are and how many."""
TOPIC, CELL = 0.8, 0.6
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def expected_value(system):
    """Return the mean of a system over topics: expit(system + N(0, TOPIC^2 + CELL^2))."""
    spread = np.hypot(TOPIC, CELL)
    return expit(np.asarray(system)[..., None] + spread * NODES) @ WEIGHTS / WEIGHTS.sum()


def two_metrics(generator, n_topics, systems):
    """Simulate two metrics of the same systems, each topics x systems."""
    shape = n_topics, systems.shape[1]
    topic, common = generator.normal(0, TOPIC, (n_topics, 1)), generator.normal(0, 1, shape)
    return [
        generator.binomial(
            10,
            expit(system + topic + CELL * (common + generator.normal(0, 1, shape)) / np.sqrt(2)),
        )
        / 10
        for system in systems
    ]


def order_study(spacing, n_systems, spread):
    def study(generator, n_topics):
        first, second = generator.normal(0, 1, (2, n_systems))
        systems = spread * np.array([first, 0.9 * first + np.sqrt(1 - 0.81) * second])
        x, y = two_metrics(generator, n_topics, systems)
        truth = kendall_tau_b(*expected_value(systems)).value
        resampled = cluster_bootstrap(
            order_agreement(x, y), np.stack([x, y], axis=1), _tau_of_sums, resamples=500
        )
        name = f"Tau of {n_systems} systems, {spacing}"
        return {
            (name, f"{JACKKNIFE}, where printed"): interval_of(order_agreement(x, y), truth),
            (name, f"{JACKKNIFE}, always"): interval_of(
                order_agreement(x, y, fewest=2, separated=0), truth
            ),
            (name, BOOTSTRAP): interval_of(resampled, truth),
        }

    return study


def mean_study(generator, n_topics):
    """Simulate topic means, their difference, and recall by question type."""
    systems = np.array([[0.2, -0.1], [4.0, 4.0]])
    (ours, theirs), (near, _) = (two_metrics(generator, n_topics, systems[[i, i]]) for i in (0, 1))
    ours, theirs = ours[:, 0], theirs[:, 1]
    one, two = expected_value(systems[0])
    difference = ours - theirs
    return {
        ("Mean of a metric over topics", T): interval_of(mean_over_topics(ours, []), one),
        ("Mean of a metric near 1", T): interval_of(
            mean_over_topics(near[:, 0], []), expected_value(4.0)
        ),
        ("Difference of two systems", T): interval_of(mean_over_topics(difference, []), one - two),
        ("Equivalence of two systems (90%)", T): interval_of(
            equivalence(ours, theirs, 0.1), one - two
        ),
        ("Recall by type, 3 questions a topic", JACKKNIFE): recall_by_type(generator, n_topics),
    }


def recall_by_type(generator, n_topics):
    p = expit(1.5 + generator.normal(0, 1, (n_topics, 1)))
    answered = generator.random((n_topics, 3)) < p
    topics = np.repeat(np.arange(n_topics), 3)
    estimate = share(answered.ravel(), np.ones(answered.size), topics, "none")
    truth = expit(1.5 + NODES) @ WEIGHTS / WEIGHTS.sum()
    return interval_of(estimate, float(truth))


def judged_study(generator, n_topics):
    """Simulate people's values of some topics and a judge's of ten times as many."""
    total = 10 * n_topics
    p = expit(generator.normal(0.2, 1, total))
    people, judge = generator.binomial(10, p) / 10, generator.binomial(10, 0.8 * p + 0.15) / 10
    truth = float(expit(0.2 + NODES) @ WEIGHTS / WEIGHTS.sum())
    powered = ppi_mean(people[:n_topics], judge[:n_topics], judge[n_topics:])
    chances = np.full(total, n_topics / total)
    labelled = np.zeros(total, dtype=bool)
    labelled[systematic(chances, int(generator.integers(2**32)))] = True
    assisted = assisted_mean(judge, np.where(labelled, people, np.nan), chances, np.arange(total))
    return {
        ("People and a judge, without a sample", "prediction-powered, t"): interval_of(
            powered, truth
        ),
        ("People and a judge, from a sample", "weighted, t"): interval_of(assisted, truth),
    }


# Reports, probabilities, highlights, mixed models, gold items


def report_coverage(generator, n_topics):
    """Simulate coverage of three reports a topic by two raters, with topic indexes."""
    p = expit(generator.normal(0, 0.7, (n_topics, 1)) + generator.normal(0, 1, (n_topics, 3)))
    answered = generator.random((n_topics, 3, 15)) < p[:, :, None]
    readings = [answered != (generator.random(answered.shape) < 0.15) for _ in range(2)]
    return [reading.mean(axis=2).ravel() for reading in readings], np.repeat(np.arange(n_topics), 3)


@cache
def true_correlations():
    (x, y), _ = report_coverage(population(3), 10 * LARGE)
    return [of(x, y).value for of in (pearson, spearman, kendall_tau_b)]


def report_study(generator, n_topics):
    (x, y), topics = report_coverage(generator, n_topics)
    leave_one_out = leave_one_out_correlations(x, y, topics)
    parts = (leave_one_out.pearson, leave_one_out.spearman, leave_one_out.kendall)
    return {
        (f"{name} of coverage of reports", "jackknife, t, arctanh"): interval_of(
            jackknife_interval(of(x, y), deleted, fisher=True), truth
        )
        for name, of, deleted, truth in zip(
            ("Pearson", "Spearman", "Kendall"),
            (pearson, spearman, kendall_tau_b),
            parts,
            true_correlations(),
            strict=True,
        )
    }


def probabilities(generator, n_topics, kind):
    z = generator.normal(0, 0.6, (n_topics, 1)) + generator.normal(0, 1.6, (n_topics, 40))
    p = expit(z)
    if kind == "overconfident":
        p = expit(0.6 * z - 0.3 + generator.normal(0, 0.5, (n_topics, 1)))
    labels = generator.random(z.shape) < p
    return expit(z).ravel(), labels.astype(float).ravel(), np.repeat(np.arange(n_topics), 40)


@cache
def true_calibration(kind):
    return calibration(*probabilities(population(4), LARGE, kind), TENTHS)


def calibration_study(kind):
    def study(generator, n_topics):
        truth = true_calibration(kind)
        errors = calibration(*probabilities(generator, n_topics, kind), TENTHS, fewest=2)
        name = "Expected calibration error, debiased"
        intervals = {
            (f"{name}, {kind} judge", JACKKNIFE): interval_of(
                errors.debiased, truth.error.value or 0
            )
        }
        if kind == "overconfident":
            intervals["Brier score", JACKKNIFE] = interval_of(
                errors.squared, truth.squared.value or 0
            )
        return intervals

    return study


def highlights(generator, n_topics):
    """Simulate readings of five texts of 200 characters a topic, with topic indexes."""
    readings, elsewhere = [], generator.beta(2, 6, n_topics)
    for topic in range(n_topics):
        for _ in range(5):
            start, length = generator.integers(20, 120), generator.integers(20, 50)
            first = (int(start), int(start + length))
            shifts = generator.integers(-12, 13, 2)
            second = (int(start + shifts[0]), int(max(start + length + shifts[1], start + 13)))
            if generator.random() < elsewhere[topic]:
                offset = int(generator.integers(0, 150))
                second = (offset, offset + 30)
            readings.append([[first], [second]])
    return readings, np.repeat(np.arange(n_topics), 5)


@cache
def true_highlights():
    readings, topics = highlights(population(5), LARGE // 10)
    return unitised_alpha(readings, np.full(len(readings), 200), topics).value


def highlight_study(generator, n_topics):
    readings, topics = highlights(generator, n_topics)
    alpha = unitised_alpha(readings, np.full(len(readings), 200), topics)
    return {("Alpha of highlights", JACKKNIFE): interval_of(alpha, true_highlights())}


def mixed_study(generator, n_topics):
    systems, topics, raters = (
        grid.ravel() for grid in np.meshgrid(range(3), range(n_topics), range(2), indexing="ij")
    )
    of_topic, of_rater = generator.normal(0, 0.1, n_topics), generator.normal(0, 0.03, 2)
    of_text = generator.normal(0, 0.08, (3, n_topics))
    values = 0.5 + 0.05 * systems + of_topic[topics] + of_rater[raters]
    values += of_text[systems, topics] + generator.normal(0, 0.08, len(values))
    model = mixed_model(values, [f"s{s}" for s in systems], topics, raters, "s0")
    if not model.contrasts:
        return {}
    return {
        ("Difference in a mixed model", "REML, t"): interval_of(model.contrasts[0].difference, 0.05)
    }


def gold_study(generator, n):
    return {
        ("Share of right gold items (n answers)", "Wilson"): interval_of(
            accuracy(int(generator.binomial(n, 0.9)), n), 0.9
        )
    }


def judge_test_study(rate):
    def study(generator, n_topics):
        of_topic = generator.beta(20 * rate, 20 * (1 - rate), (n_topics, 1, 1))
        of_topic = of_topic.clip(1e-6, 1 - 1e-6)
        of_pair = generator.beta(2 * of_topic, 2 * (1 - of_topic), (n_topics, 5, 1))
        changes = (generator.random((n_topics, 5, 3)) < of_pair).reshape(-1, 3)
        steps = changes * generator.choice([-1, 1, 1, 1], changes.shape)
        original = np.full(len(changes), 3.0)
        topics = np.repeat(np.arange(n_topics), 5)
        grades = PairedGrades(original, original[:, np.newaxis] + steps, topics)
        return {
            (f"Grades that a test of a judge changes, {rate:.0%}", "Korn-Graubard"): interval_of(
                share_of_changes(grades), rate
            ),
            (f"Mean change of a grade in a test, {rate:.0%} change", "CR1, t"): interval_of(
                mean_change(grades), rate / 2
            ),
        }

    return study


def intraclass_study(generator, n_topics):
    truth = cached_intraclass()
    estimates = intraclass_statistics(ordinal_grades(generator, n_topics))
    return {name: interval_of(estimate, truth[name]) for name, estimate in estimates.items()}


cached_intraclass = cache(true_intraclass)

MODELS: dict[str, Model] = {
    "means": Model(mean_study),
    "binary": Model(of_population(binary_statistics, binary_grades, bootstrap=False), 0.5),
    "ordinal": Model(of_population(ordinal_statistics, ordinal_grades)),
    "icc": Model(intraclass_study, 0.5),
    "highlights": Model(highlight_study, 0.5),
    "reports": Model(report_study),
    **{
        f"tau of {n} {spacing}": Model(order_study(spacing, n, sd), 0.5)
        for (spacing, n), sd in ORDERS.items()
    },
    **{kind: Model(calibration_study(kind), 0.5) for kind in ("calibrated", "overconfident")},
    "judged": Model(judged_study),
    "mixed": Model(mixed_study, 0.1),
    "gold": Model(gold_study),
    **{f"judge test {rate}": Model(judge_test_study(rate)) for rate in (0.02, 0.05, 0.2)},
}


class Coverage(NamedTuple):
    """Counts of studies, of intervals, and of intervals that contain the true value."""

    holds: int
    intervals: int
    studies: int

    @property
    def wording(self) -> str:
        """The share of covering intervals; if some are missing, their share of the studies."""
        if not self.intervals:
            return "none"
        held_share = f"{self.holds / self.intervals:.2f}"
        if self.intervals == self.studies:
            return held_share
        return f"{held_share} ({self.intervals / self.studies:.0%} have one)"


def coverage(
    names: list[str], studies: int = STUDIES, sizes: tuple[int, ...] = SIZES
) -> dict[tuple[str, str], dict[int, Coverage]]:
    """Return the simulated coverage of each statistic and method, by the number of topics."""
    coverages: dict[tuple[str, str], dict[int, Coverage]] = defaultdict(dict)
    for index, (name, model) in enumerate(MODELS.items()):
        if name not in names:
            continue
        for size in sizes:
            counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
            n = max(1, round(studies * model.share))
            for study in range(n):
                generator = np.random.default_rng([SEED, index, size, study])
                for key, (low, high, truth) in model.draw(generator, size).items():
                    if low is not None and high is not None:
                        counts[key][0] += low <= truth <= high
                        counts[key][1] += 1
                    else:
                        counts[key][1] += 0
            for key, (holds, intervals) in counts.items():
                coverages[key][size] = Coverage(holds, intervals, n)
    return dict(coverages)


def table(coverages: Mapping[tuple[str, str], Mapping[int, Coverage]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| statistic | method | {' | '.join(map(str, SIZES))} |"
    yield f"|---|---|{'---|' * len(SIZES)}"
    for (statistic, method), by_size in coverages.items():
        cells = (by_size[size].wording if size in by_size else "" for size in SIZES)
        yield f"| {statistic} | {method} | {' | '.join(cells)} |"


def smoke() -> str:
    """Simulate two studies of each model; see bench.smoke."""
    globals().update(LARGE=200)
    lacking = [name for name in MODELS if not _n_intervals(coverage([name], 2, (20,)))]
    if lacking:
        raise SystemExit(f"No interval from the models {', '.join(lacking)}.")
    return f"intervals from each of {len(MODELS)} models"


def _n_intervals(coverages: Mapping[tuple[str, str], Mapping[int, Coverage]]) -> int:
    return sum(cell.intervals for by_size in coverages.values() for cell in by_size.values())


def main(studies: int = STUDIES, only: str = "") -> None:
    """Print the table, of models whose name holds `only`."""
    print("\n".join(table({})))
    for name in MODELS:
        if only in name:
            start = time.monotonic()
            _, _, *rows = table(coverage([name], studies))
            print("\n".join(rows), flush=True)
            print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
