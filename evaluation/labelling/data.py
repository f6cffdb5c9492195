"""Coverage of all reports of a dataset by a judge, and by people where they graded them.

Unlike the matrix of agreement this has every report, labelled or not: people should read next one of
those without labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import BooleanField, ExpressionWrapper, Q
from numpy.typing import NDArray

from annotation.models import Text
from evaluation.data.process_cache import LABEL_DATA
from evaluation.data.ratings import QuestionRow, count_exposed, frame, grid, questions_of
from evaluation.data.selection import Selection
from evaluation.models import LabelSample, SampleChance
from evaluation.stats.coverage_gap import answerable_by_grade, expected_gap
from evaluation.stats.estimate import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Report:
    """Generated report, without its text."""

    pk: int
    name: str
    system: str
    topic: int
    topic_name: str
    can_be_shown: bool


@dataclass(frozen=True)
class Sample:
    """Sample of `size` reports of a system ("" = all), over the reports of a LabelData.

    `chances`: the probability of each, NaN where the sample could not take it.
    """

    pk: int
    system: str
    size: int
    made: datetime
    chances: FloatArray
    is_drawn: NDArray[np.bool_]


@dataclass(frozen=True)
class LabelData:
    """Coverage arrays with an entry per report, in the order of `reports`.

    The order is by topic, system and name.
    `judge`: the judge's coverage, NaN unless it graded every question that was not filtered.
    `human`: the mean coverage of the people who finished the report, NaN if nobody did; `n_people`
    counts those. `gap`: how far a person is expected to be from the judge (evaluation.stats.coverage_gap),
    NaN where the judge's coverage is, and everywhere while no report has grades of both.
    `shares`: how often people call a cell answerable at each of `levels`, the judge's grades; it
    rests on `n_cells` cells, and counts a grade that was copied to texts of equal words once. `n_exposed`:
    grades of reports that people gave after they had seen those of others, which are left out. `samples`:
    those under the selection's rubric, the newest first.
    """

    selection: Selection
    reports: tuple[Report, ...]
    judge: FloatArray
    human: FloatArray
    n_people: IntArray
    gap: FloatArray
    shares: FloatArray
    levels: tuple[int, ...]
    n_cells: int
    n_exposed: int = 0
    samples: tuple[Sample, ...] = ()

    def of_system(self, system: str) -> NDArray[np.bool_]:
        """Return a mask of a system's reports; of all reports if `system` is empty."""
        return self._systems == system if system else np.ones(len(self.reports), dtype=bool)

    @cached_property
    def _systems(self) -> NDArray[np.str_]:
        return np.array([report.system for report in self.reports], dtype=np.str_)

    @cached_property
    def topics(self) -> IntArray:
        return np.array([report.topic for report in self.reports], dtype=np.int64)

    @cached_property
    def systems(self) -> list[str]:
        return sorted({report.system for report in self.reports})


def load_label_data(selection: Selection) -> LabelData:
    """Load all reports with a topic, under the selection's rubric, people, judge and eta.

    Cached until the next write; eight queries at most.
    """
    return LABEL_DATA.until_db_write(
        (*selection.key, selection.judge_reason), lambda: _label_data(selection)
    )


def _label_data(selection: Selection) -> LabelData:
    reports = tuple(
        Report(*values)
        for values in Text.objects.filter(
            dataset=selection.dataset, kind=Text.Kind.REPORT, topic__isnull=False
        )
        .annotate(has_body=ExpressionWrapper(Q(body__isnull=False), BooleanField()))
        .order_by("topic__position", "topic_id", "system", "name")
        .values_list("pk", "name", "system", "topic_id", "topic__name", "has_body")
    )
    questions = questions_of(selection.dataset)
    grids, is_copied = _grids(selection, [report.pk for report in reports], questions)
    mask = _question_mask(reports, questions, grids.shape[2])
    grids[:, ~mask] = np.nan
    people, judge = grids[:-1], grids[-1]
    answerable = np.where(np.isnan(people), np.nan, people >= selection.threshold)
    finished = ~(np.isnan(answerable) & mask).any(axis=2) & mask.any(axis=1)
    n_people = finished.sum(axis=0)
    n_asked = np.maximum(mask.sum(axis=1), 1)
    coverage = np.where(finished, np.nansum(answerable, axis=2) / n_asked, 0.0)
    human = np.where(n_people > 0, coverage.sum(axis=0) / np.maximum(n_people, 1), np.nan)
    complete = ~(np.isnan(judge) & mask).any(axis=1) & mask.any(axis=1)
    judged = np.where(complete, (judge >= selection.judge_threshold).sum(axis=1) / n_asked, np.nan)
    levels = tuple(selection.judge_rubric.grades())
    yes = _share_of_people(np.where(is_copied, np.nan, answerable))
    shares = answerable_by_grade(judge.ravel(), yes.ravel(), levels)
    gap = expected_gap(judge, selection.judge_threshold, shares, levels)
    return LabelData(
        selection=selection,
        reports=reports,
        judge=judged,
        human=human,
        n_people=n_people.astype(np.int64),
        gap=np.where(complete, gap, np.nan),
        shares=shares,
        levels=levels,
        n_cells=int((~np.isnan(judge) & ~np.isnan(yes)).sum()),
        n_exposed=count_exposed(selection, text__kind=Text.Kind.REPORT),
        samples=_samples(selection, reports),
    )


def _samples(selection: Selection, reports: tuple[Report, ...]) -> tuple[Sample, ...]:
    samples = LabelSample.objects.filter(dataset=selection.dataset, rubric=selection.rubric)
    positions = {report.pk: position for position, report in enumerate(reports)}
    chances = {sample.pk: np.full(len(reports), np.nan) for sample in samples}
    is_drawn = {sample.pk: np.zeros(len(reports), dtype=bool) for sample in samples}
    # By their keys: a sample that is drawn meanwhile is none of these.
    rows = SampleChance.objects.filter(sample__in=list(chances))
    for pk, text, chance, was_drawn in rows.values_list(
        "sample_id", "text_id", "chance", "is_drawn"
    ):
        if text in positions:
            chances[pk][positions[text]], is_drawn[pk][positions[text]] = chance, was_drawn
    return tuple(
        Sample(
            sample.pk,
            sample.system,
            sample.size,
            sample.made,
            chances[sample.pk],
            is_drawn[sample.pk],
        )
        for sample in samples
    )


def _question_mask(
    reports: Sequence[Report], questions: Mapping[int, QuestionRow], width: int
) -> NDArray[np.bool_]:
    """Return a mask of unfiltered questions of each report's topic: reports x positions."""
    positions: dict[int, list[int]] = {}
    for question in questions.values():
        if not question.is_filtered:
            positions.setdefault(question.topic, []).append(question.position)
    mask = np.zeros((len(reports), width), dtype=bool)
    for row, report in enumerate(reports):
        mask[row, positions.get(report.topic, [])] = True
    return mask


def _grids(
    selection: Selection, texts: Sequence[int], questions: Mapping[int, QuestionRow]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return grades, and a mask of those that people gave to another text of equal words.

    Grades are (people, then the judge) x texts x question positions, NaN = none; the mask has no judge.
    """
    people = [rater.pk for rater in selection.raters if rater.is_person]
    judge = [selection.judge.pk] if selection.judge else []
    reports = Text.objects.filter(dataset=selection.dataset, kind=Text.Kind.REPORT)

    def ratings_by(raters: list[int], rubric: int) -> pd.DataFrame:
        return frame(
            selection.dataset,
            raters,
            [rubric],
            with_filtered=False,
            texts=reports,
            independent=selection.raters_to_check,
        )

    rows = ratings_by(people, selection.rubric.pk)
    by_people = grid(rows, people, texts, questions)
    copied = grid(rows[rows["text"] != rows["read_text"]], people, texts, questions)
    by_judge = grid(ratings_by(judge, selection.judge_rubric.pk), judge, texts, questions)
    none = np.full((1 - len(judge), *by_people.shape[1:]), np.nan)
    return np.concatenate([by_people, by_judge, none]), ~np.isnan(copied)


def _share_of_people(answerable: FloatArray) -> FloatArray:
    """Return the share of a cell's raters who called it answerable; NaN without raters."""
    n = (~np.isnan(answerable)).sum(axis=0)
    return np.where(n > 0, np.nansum(answerable, axis=0) / np.maximum(n, 1), np.nan)
