"""Summary of a judge against the people of a dataset, and of all judges of a selection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.models import Dataset, Rubric
from evaluation.agreement.judge import AgainstJudge, judge_parts
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import Column
from evaluation.data.ratings import load
from evaluation.data.selection import Selection, select


@dataclass(frozen=True)
class JudgeAgainstPeople:
    """Scores of a judge against all people under one rubric, without adjudicators."""

    selection: Selection
    scores: AgainstJudge

    @property
    def n_people(self) -> int:
        return len(self.selection.raters)


def compare_with_people(dataset: Dataset, rater: int) -> tuple[JudgeAgainstPeople, ...]:
    """Compare this judge with people, for each rubric under which people rated what it rated.

    Cached. The same numbers as on the agreement page at its default eta; empty without such ratings.
    """
    return cached(
        dataset,
        (CacheKey.JUDGE_AGAINST_PEOPLE, rater),
        lambda: tuple(_compare_by_rubric(dataset, rater)),
    )


def judge_scores(selection: Selection) -> Iterator[tuple[Column, AgainstJudge]]:
    """Yield each judge and baseline that rated the raters' pairs, and its scores.

    Models come first.
    """
    if selection.raters:
        for judge in selection.judges:
            yield judge, judge_parts(load(select_judge(selection, judge))).all


def _compare_by_rubric(dataset: Dataset, rater: int) -> Iterator[JudgeAgainstPeople]:
    for rubric in Rubric.objects.order_by("slug").values_list("slug", flat=True):
        selection = select(dataset, rubric=rubric)
        if not any(rater.is_person for rater in selection.raters):
            continue
        for judge in selection.judges:
            if judge.pk == rater:
                chosen = select_judge(selection, judge)
                yield JudgeAgainstPeople(chosen, judge_parts(load(chosen)).all)


def select_judge(selection: Selection, judge: Column) -> Selection:
    """Return the same selection with this judge."""
    return select(
        selection.dataset,
        rubric=selection.rubric.slug,
        raters=[rater.name for rater in selection.raters],
        judge=judge.name,
        eta=selection.eta,
        campaign=selection.campaign.slug if selection.campaign else None,
        majority=selection.majority,
        exposed=selection.exposed,
    )
