"""Estimates of the reports' mean coverage: by people, by the judge, by both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from evaluation.labelling.data import LabelData, Sample
from evaluation.stats.assisted_mean import assisted_mean, topic_means
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.prediction_powered import ppi_mean

UNEQUAL = "undefined, because topics had different probabilities of being labelled, which a plain mean ignores"


@dataclass(frozen=True)
class SystemRow:
    """Mean coverage of a system's reports over topics, three ways. An empty system is all.

    `people` uses the topics that people have finished, `judge` all topics that the judge has.
    `both` corrects the second by the first: weighted by the chances of `sample`, the newest that is
    labelled throughout, with n = reports; where there is none, prediction-powered and tuned, with
    n = topics. `n_left_out` counts labelled reports that are in neither `people` nor `both`.
    """

    system: str
    people: Estimate
    judge: Estimate
    both: Estimate
    sample: Sample | None = None
    n_left_out: int = 0


def system_rows(data: LabelData) -> tuple[SystemRow, ...]:
    """Return a row for each system, and one for all where there are several."""
    systems = data.systems
    names = [*systems, *([""] if len(systems) > 1 else [])]
    return tuple(_row(data, name) for name in names)


def sample_estimate(data: LabelData, sample: Sample, system: str) -> Estimate:
    """Estimate the mean coverage of a system's reports over topics from a sample.

    An empty `system` is all of them; the sample is of them or of all. Its labels are weighted by its
    chances; labels from before it count for sure. Reports that it could take and did not take have the
    judge's value alone, even if they were labelled since. Those that it could not take and that nobody has
    labelled are left out and counted in `missing`. The sample must be labelled throughout: labels that come
    first are no random part of it.
    """
    human, chances = _counted(data, sample)
    in_sample = data.of_system(sample.system)
    inside = data.of_system(system)[in_sample]
    return assisted_mean(
        data.judge[in_sample],
        human[in_sample],
        chances[in_sample],
        data.topics[in_sample],
        inside=inside,
    ).within(0, 1)


def n_labelled(data: LabelData, sample: Sample) -> int:
    """Return the number of reports of a sample that people have finished."""
    return int((sample.is_drawn & ~np.isnan(data.human)).sum())


def _row(data: LabelData, system: str) -> SystemRow:
    of_system = data.of_system(system)
    finished = not (of_system & np.isnan(data.human) & ~np.isnan(data.judge)).any()
    sample = None if finished else _sample_for(data, system)
    human, chances = _counted(data, sample)
    if not finished and not sample:
        human = _before_samples(data)
    topics, labelled = data.topics[of_system], of_system & ~np.isnan(human)
    people, judge = _by_topic(human[of_system], topics), _by_topic(data.judge[of_system], topics)
    plain = not sample or _has_equal_chances(chances[of_system & ~np.isnan(chances)], topics)
    return SystemRow(
        system,
        people=_mean(people, "people have finished no topic")
        if plain
        else Estimate(None, UNEQUAL, int(labelled.sum())),
        judge=_mean(judge, "the judge has graded no topic completely"),
        both=sample_estimate(data, sample, system)
        if sample
        else _prediction_powered(people, judge),
        sample=sample,
        n_left_out=int((of_system & ~np.isnan(data.human)).sum() - labelled.sum()),
    )


def _sample_for(data: LabelData, system: str) -> Sample | None:
    """Return the newest sample of a system's reports that is labelled throughout."""
    samples = (sample for sample in data.samples if sample.system in ("", system))
    return next((sample for sample in samples if n_labelled(data, sample) == sample.size), None)


def _counted(data: LabelData, sample: Sample | None) -> tuple[FloatArray, FloatArray]:
    """Return people's values that count beside a sample, and each report's chance.

    NaN for none.
    """
    human = data.human
    if sample:
        human = np.where(np.isnan(sample.chances) | sample.is_drawn, human, np.nan)
    chances = np.where(np.isnan(human), np.nan, 1.0)
    return human, np.where(np.isnan(sample.chances), chances, sample.chances) if sample else chances


def _before_samples(data: LabelData) -> FloatArray:
    """Return people's values without those that a sample asked for."""
    drawn_reports = [sample.is_drawn for sample in data.samples]
    return (
        np.where(np.any(drawn_reports, axis=0), np.nan, data.human) if drawn_reports else data.human
    )


def _has_equal_chances(chances: FloatArray, topics: IntArray) -> bool:
    """Return whether all topics had the same chance that all their reports are labelled."""
    reports = np.unique(topics, return_counts=True)[1]
    return len(set(reports.tolist())) == 1 and not (np.abs(chances - chances[:1]) > 1e-9).any()


def _by_topic(values: FloatArray, topics: IntArray) -> FloatArray:
    """Return the mean of each topic's reports; NaN where one of them has no value."""
    return topic_means(values, topics) if len(values) else values


def _mean(values: FloatArray, reason: str) -> Estimate:
    """Return the mean over topics with a t interval.

    n = topics with a value, missing = the others.
    """
    defined = values[~np.isnan(values)]
    n, missing = len(defined), len(values) - len(defined)
    if not n:
        return Estimate(None, f"undefined, because {reason}", 0, missing)
    value = float(defined.mean())
    if n < 2:
        reason = "no interval, because there are fewer than two topics"
        return Estimate(value, None, n, missing, interval_reason=reason)
    reach = float(scipy.stats.t.ppf(0.975, n - 1) * defined.std(ddof=1) / np.sqrt(n))
    return Estimate(value, None, n, missing, value - reach, value + reach).within(0, 1)


def _prediction_powered(human: FloatArray, judge: FloatArray) -> Estimate:
    """Return the prediction-powered estimate from people and judge by topic, without a sample."""
    both = ~np.isnan(human) & ~np.isnan(judge)
    judge_only = judge[~both & ~np.isnan(judge)]
    if both.any() and not len(judge_only):
        reason = "undefined, because people have finished every topic: use their estimate"
        return Estimate(None, reason, int(both.sum()))
    return ppi_mean(human[both], judge[both], judge_only).within(0, 1)
