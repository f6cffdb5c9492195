"""Sampling of reports to label, and the estimate from a sample's labels."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Count

from annotation.errors import UserError
from annotation.models import Rater, User
from evaluation.labelling.data import LabelData, Report, Sample
from evaluation.labelling.estimates import n_labelled, sample_estimate
from evaluation.labelling.page import LabelReport
from evaluation.labelling.query import LabelQuery
from evaluation.models import LabelSample, SampleChance
from evaluation.stats.estimate import Estimate
from evaluation.stats.sampling import systematic


class NothingToSampleError(UserError):
    """No report is left that a sample could take. The message is for the page."""


@transaction.atomic
def make_sample(choice: LabelQuery, report: LabelReport, by: User) -> LabelSample:
    """Draw and save a sample of a report's candidates.

    A second draw of the same candidates would be a second chance, so two presses store one sample.
    Raises NothingToSampleError.
    """
    judge = choice.selection.judge
    if judge is None or not report.candidates:
        raise NothingToSampleError("No sample was drawn: all reports are labelled.")
    assert choice.selection.eta is not None  # else the choice was refused
    dataset = choice.selection.dataset
    # The second press waits here; not for the dataset, which an import holds for long.
    list(Rater.objects.select_for_update(no_key=True).filter(pk=judge.pk))
    question = {
        "rubric": choice.selection.rubric,
        "judge_id": judge.pk,
        "eta": choice.selection.eta,
        "system": choice.system,
    }
    chances = {candidate.report.pk: candidate.chance for candidate in report.candidates}
    earlier_samples = dataset.label_samples.filter(**question)
    for earlier in earlier_samples.annotate(n=Count("chances")).filter(n=len(chances)):
        if dict(earlier.chances.values_list("text", "chance")) == chances:
            return earlier
    seed = secrets.randbits(32)
    drawn_indexes = set(
        systematic([candidate.chance for candidate in report.candidates], seed).tolist()
    )
    sample = LabelSample.objects.create(
        dataset=dataset,
        **question,
        size=len(drawn_indexes),
        seed=seed,
        made_by=by,
    )
    SampleChance.objects.bulk_create(
        (
            SampleChance(
                sample=sample,
                text_id=candidate.report.pk,
                chance=candidate.chance,
                is_drawn=index in drawn_indexes,
            )
            for index, candidate in enumerate(report.candidates)
        ),
        batch_size=5_000,
    )
    return sample


@dataclass(frozen=True)
class SampledReport:
    report: Report
    chance: float
    judge: float | None
    human: float | None
    n_people: int


@dataclass(frozen=True)
class SampleResult:
    """Reports of a sample and the estimate from their labels.

    `n_outside` counts reports that the sample could have taken, did not take, and that people have
    finished all the same: their labels are not in the estimate, since their chances are unknown.
    """

    drawn: tuple[SampledReport, ...]
    n_labelled: int
    n_outside: int
    estimate: Estimate


def sample_result(sample: LabelSample, data: LabelData) -> SampleResult:
    """Return the estimate of a sample; undefined until all its reports are labelled."""
    sampled = next(candidate for candidate in data.samples if candidate.pk == sample.pk)
    done = n_labelled(data, sampled)
    outside = ~np.isnan(sampled.chances) & ~sampled.is_drawn & ~np.isnan(data.human)
    if done < sample.size:
        n_missing = sample.size - done
        reason = f"undefined, because {n_missing} of the {sample.size} drawn reports are not labelled yet"
        estimate = Estimate(None, reason, done)
    else:
        estimate = sample_estimate(data, sampled, sample.system)
    drawn_reports = tuple(
        _sampled_report(data, sampled, index) for index in np.flatnonzero(sampled.is_drawn).tolist()
    )
    return SampleResult(drawn_reports, done, int(outside.sum()), estimate)


def _sampled_report(data: LabelData, sample: Sample, index: int) -> SampledReport:
    return SampledReport(
        data.reports[index],
        float(sample.chances[index]),
        _none_if_nan(float(data.judge[index])),
        _none_if_nan(float(data.human[index])),
        int(data.n_people[index]),
    )


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else value
