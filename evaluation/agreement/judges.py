"""A judge against the people of a dataset in a few numbers, and all judges side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.models import Dataset, Rubric
from evaluation.agreement.judge import AgainstJudge, judge_parts
from evaluation.data.cache import cached
from evaluation.data.columns import Column
from evaluation.data.ratings import load
from evaluation.data.selection import Selection, select


@dataclass(frozen=True)
class WithPeople:
    """One judge against all people who rated under one rubric, adjudicators left out."""

    selection: Selection
    scores: AgainstJudge

    @property
    def n_people(self) -> int:
        return len(self.selection.raters)


def with_people(dataset: Dataset, rater: int) -> tuple[WithPeople, ...]:
    """The judge that is this rater, for each rubric under which people rated what it rated.

    The same numbers as on the agreement page, at the eta that is usual; none where nobody did.
    """
    return cached(dataset, ("with people", rater), lambda: tuple(_under_each(dataset, rater)))


def every_judge(selection: Selection) -> Iterator[tuple[Column, AgainstJudge]]:
    """Each judge and baseline that rated what the raters did, against these; models come first."""
    if selection.raters:
        for judge in selection.judges:
            yield judge, judge_parts(load(select_judge(selection, judge))).all


def _under_each(dataset: Dataset, rater: int) -> Iterator[WithPeople]:
    for rubric in Rubric.objects.order_by("slug").values_list("slug", flat=True):
        selection = select(dataset, rubric=rubric)
        if not any(rater.is_person for rater in selection.raters):
            continue
        for judge in selection.judges:
            if judge.pk == rater:
                chosen = select_judge(selection, judge)
                yield WithPeople(chosen, judge_parts(load(chosen)).all)


def select_judge(selection: Selection, judge: Column) -> Selection:
    """The same selection with this judge."""
    return select(
        selection.dataset,
        rubric=selection.rubric.slug,
        raters=[rater.name for rater in selection.raters],
        judge=judge.name,
        eta=selection.eta,
        campaign=selection.campaign.slug if selection.campaign else None,
        majority=selection.majority,
    )
