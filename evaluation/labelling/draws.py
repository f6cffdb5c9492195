"""Making a draw of reports to label, and reading what its labels say."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from annotation.models import User
from evaluation.labelling.data import Drawn, LabelData, Report
from evaluation.labelling.estimates import draw_estimate, n_labelled
from evaluation.labelling.page import LabelReport
from evaluation.labelling.params import LabelChoice
from evaluation.models import DrawChance, LabelDraw
from evaluation.stats.estimate import Estimate
from evaluation.stats.sampling import systematic


class NothingToDrawError(Exception):
    """There is no report left that a draw could take. The message says so."""


@transaction.atomic
def make_draw(choice: LabelChoice, report: LabelReport, by: User) -> LabelDraw:
    """A new draw from the candidates of a report, with its chances. Raises NothingToDrawError."""
    judge = choice.selection.judge
    if judge is None or not report.candidates:
        raise NothingToDrawError("Nothing was drawn: there is no report left to label.")
    seed = secrets.randbits(32)
    drawn = set(systematic([candidate.chance for candidate in report.candidates], seed).tolist())
    draw = LabelDraw.objects.create(
        dataset=choice.selection.dataset,
        rubric=choice.selection.rubric,
        judge_id=judge.pk,
        eta=choice.selection.eta,
        system=choice.system,
        size=len(drawn),
        seed=seed,
        made_by=by,
    )
    DrawChance.objects.bulk_create(
        (
            DrawChance(
                draw=draw,
                text_id=candidate.report.pk,
                chance=candidate.chance,
                is_drawn=index in drawn,
            )
            for index, candidate in enumerate(report.candidates)
        ),
        batch_size=5_000,
    )
    return draw


@dataclass(frozen=True)
class DrawnReport:
    report: Report
    chance: float
    judge: float | None
    human: float | None
    n_people: int


@dataclass(frozen=True)
class DrawResult:
    """The reports of a draw and the estimate from their labels.

    `n_outside` counts reports that the draw could have taken, did not take, and that people have
    finished all the same: their labels are not in the estimate, since nobody knows their chances.
    """

    drawn: tuple[DrawnReport, ...]
    n_labelled: int
    n_outside: int
    estimate: Estimate


def draw_result(draw: LabelDraw, data: LabelData) -> DrawResult:
    """What the labels of a draw say so far; undefined until every drawn report is labelled."""
    sampled = next(made for made in data.draws if made.pk == draw.pk)
    done = n_labelled(data, sampled)
    outside = ~np.isnan(sampled.chances) & ~sampled.is_drawn & ~np.isnan(data.human)
    if done < draw.size:
        why = f"undefined, because {draw.size - done} of the {draw.size} drawn reports are not labelled yet"
        estimate = Estimate(None, why, done)
    else:
        estimate = draw_estimate(data, sampled, draw.system)
    drawn = tuple(
        _drawn_report(data, sampled, index) for index in np.flatnonzero(sampled.is_drawn).tolist()
    )
    return DrawResult(drawn, done, int(outside.sum()), estimate)


def _drawn_report(data: LabelData, draw: Drawn, index: int) -> DrawnReport:
    return DrawnReport(
        data.reports[index],
        float(draw.chances[index]),
        _known(float(data.judge[index])),
        _known(float(data.human[index])),
        int(data.n_people[index]),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
