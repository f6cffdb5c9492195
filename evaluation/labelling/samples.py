"""Making a sample of reports to label, and reading what its labels say."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from annotation.models import User
from evaluation.labelling.data import LabelData, Report, Sample
from evaluation.labelling.estimates import n_labelled, sample_estimate
from evaluation.labelling.page import LabelReport
from evaluation.labelling.params import LabelChoice
from evaluation.models import LabelSample, SampleChance
from evaluation.stats.estimate import Estimate
from evaluation.stats.sampling import systematic


class NothingToSampleError(Exception):
    """There is no report left that a sample could take. The message says so."""


@transaction.atomic
def make_sample(choice: LabelChoice, report: LabelReport, by: User) -> LabelSample:
    """A new sample from the candidates of a report, with its chances. Raises NothingToSampleError."""
    judge = choice.selection.judge
    if judge is None or not report.candidates:
        raise NothingToSampleError("Nothing was drawn: there is no report left to label.")
    assert choice.selection.eta is not None  # or the choice were refused
    seed = secrets.randbits(32)
    drawn = set(systematic([candidate.chance for candidate in report.candidates], seed).tolist())
    sample = LabelSample.objects.create(
        dataset=choice.selection.dataset,
        rubric=choice.selection.rubric,
        judge_id=judge.pk,
        eta=choice.selection.eta,
        system=choice.system,
        size=len(drawn),
        seed=seed,
        made_by=by,
    )
    SampleChance.objects.bulk_create(
        (
            SampleChance(
                sample=sample,
                text_id=candidate.report.pk,
                chance=candidate.chance,
                is_drawn=index in drawn,
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
    """The reports of a sample and the estimate from their labels.

    `n_outside` counts reports that the sample could have taken, did not take, and that people have
    finished all the same: their labels are not in the estimate, since nobody knows their chances.
    """

    drawn: tuple[SampledReport, ...]
    n_labelled: int
    n_outside: int
    estimate: Estimate


def sample_result(sample: LabelSample, data: LabelData) -> SampleResult:
    """What the labels of a sample say so far; undefined until every drawn report is labelled."""
    sampled = next(made for made in data.samples if made.pk == sample.pk)
    done = n_labelled(data, sampled)
    outside = ~np.isnan(sampled.chances) & ~sampled.is_drawn & ~np.isnan(data.human)
    if done < sample.size:
        why = f"undefined, because {sample.size - done} of the {sample.size} drawn reports are not labelled yet"
        estimate = Estimate(None, why, done)
    else:
        estimate = sample_estimate(data, sampled, sample.system)
    drawn = tuple(
        _sampled_report(data, sampled, index) for index in np.flatnonzero(sampled.is_drawn).tolist()
    )
    return SampleResult(drawn, done, int(outside.sum()), estimate)


def _sampled_report(data: LabelData, sample: Sample, index: int) -> SampledReport:
    return SampledReport(
        data.reports[index],
        float(sample.chances[index]),
        _known(float(data.judge[index])),
        _known(float(data.human[index])),
        int(data.n_people[index]),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
