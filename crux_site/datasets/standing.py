"""Where a dataset stands, in a few lines: kappa, how full its matrix is, what is next, what runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from annotation.models import Campaign, Dataset, Rubric
from crux_site.datasets.page import Fill, Overview
from evaluation.agreement.page import AgreementReport, kept_report, report_if_kept
from evaluation.data.selection import select
from judging.engine.background import GOING
from judging.models import JudgeRun

CHEAP = 2000  # ratings of people, whose report takes less than a second

Next = Literal["texts", "grades", "runs", "people", "judge", "differ"]


@dataclass(frozen=True)
class Fullest:
    """Texts of one kind under one rubric: who of the people, and who of the judges, rated most of them."""

    rubric: Rubric
    texts: str
    fills: tuple[Fill, ...]


@dataclass(frozen=True)
class Standing:
    """`report` is that of the default selection, None where it is not kept and would take long."""

    report: AgreementReport | None
    fullest: tuple[Fullest, ...]
    campaigns: tuple[Campaign, ...]
    runs: tuple[JudgeRun, ...]
    next: Next


def standing(dataset: Dataset, counts: Overview) -> Standing:
    """Of a dataset with these counts. Agreement is computed here of few ratings alone."""
    campaigns = tuple(dataset.campaigns.filter(state=Campaign.State.OPEN))
    at_work = dataset.judge_runs.filter(state__in=GOING).select_related("judge__rater")
    return Standing(
        report=_report(dataset, counts) if counts.is_comparable else None,
        fullest=_fullest(counts),
        campaigns=campaigns,
        runs=(runs := tuple(at_work)),
        next=_next(counts, is_at_work=bool(campaigns or runs)),
    )


def _report(dataset: Dataset, counts: Overview) -> AgreementReport | None:
    selection = select(dataset, judge_by_default=True)
    by_people = sum(
        fill.n
        for fill in counts.fills
        if fill.rater.is_person and fill.rubric.pk == selection.rubric.pk
    )
    return kept_report(selection) if by_people <= CHEAP else report_if_kept(selection)


def _fullest(counts: Overview) -> tuple[Fullest, ...]:
    ordered = sorted(counts.fills, key=lambda fill: (fill.rubric.slug, fill.kind))
    fullest = []
    for (_, texts), group in groupby(ordered, lambda fill: (fill.rubric.slug, fill.texts)):
        fills = list(group)
        sides = (
            [fill for fill in fills if fill.rater.is_person],
            [fill for fill in fills if fill.rater.is_judge],
        )
        most = tuple(max(side, key=lambda fill: fill.n) for side in sides if side)
        if most:
            fullest.append(Fullest(fills[0].rubric, texts, most))
    return tuple(fullest)


def _next(counts: Overview, *, is_at_work: bool) -> Next:
    """The first thing that is to do: texts, grades, those of people, a judge's, and then to read."""
    if not counts.texts:
        return "texts"
    if not counts.fills:
        return "runs" if is_at_work else "grades"
    if not any(fill.rater.is_person for fill in counts.fills):
        return "people"
    return "differ" if any(fill.rater.is_judge for fill in counts.fills) else "judge"
