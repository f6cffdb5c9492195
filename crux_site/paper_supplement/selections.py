"""Ratings and systems that a paper's supplement compares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from annotation.models import Dataset
from crux_site.calibration.page import JudgeCalibration, judge_calibration
from evaluation.agreement.report import AgreementReport, cached_report
from evaluation.data.repeats import RepeatedGrades, repeated_grades
from evaluation.data.selection import Selection, select
from evaluation.matrix.rubric_matrix import used_rubrics
from evaluation.mixed_model.page import ModelReport, model_report
from evaluation.mixed_model.query import ModelQuery
from evaluation.retrieval.differences import PairTest
from evaluation.retrieval.page import tests_between
from evaluation.scoring.options import Options
from evaluation.scoring.row_score import RowScore


@dataclass(frozen=True)
class RatedRubric:
    """Rubric under which people rated, with a judge if one graded the same: results by need."""

    selection: Selection

    @property
    def slug(self) -> str:
        return self.selection.rubric.slug

    @property
    def title(self) -> str:
        return self.selection.rubric.title

    @cached_property
    def agreement(self) -> AgreementReport:
        return cached_report(self.selection)

    @cached_property
    def repeats(self) -> RepeatedGrades:
        """Grades that people gave twice in campaigns of the dataset; pilots are left out."""
        campaigns = self.selection.dataset.campaigns.filter(
            is_pilot=False, repeat_percent__isnull=False
        )
        return repeated_grades(campaigns, self.selection.rubric)

    @cached_property
    def model_choice(self) -> ModelQuery:
        return ModelQuery(self.selection, {}).parse()

    @cached_property
    def model(self) -> ModelReport:
        return model_report(self.model_choice)

    @cached_property
    def calibration(self) -> JudgeCalibration:
        return judge_calibration(self.selection)


def rated_rubrics(dataset: Dataset, options: Options) -> tuple[RatedRubric, ...]:
    """Return the rubrics under which people rated, read at eta.

    The judge is that of the scores if it graded what the people rated, else the default one.
    """
    return tuple(map(RatedRubric, _selections(dataset, options)))


def _selections(dataset: Dataset, options: Options) -> Iterator[Selection]:
    judge = options.source.rater
    for rubric in used_rubrics(dataset):
        people = select(dataset, rubric=rubric.slug)
        if not any(rater.is_person for rater in people.raters):
            continue
        is_judge = judge is not None and judge.pk in [column.pk for column in people.judges]
        yield select(
            dataset,
            rubric=rubric.slug,
            judge=judge.name if judge and is_judge else None,
            eta=options.eta if options.eta in people.etas else None,
            judge_by_default=True,
        )


@dataclass(frozen=True)
class PairComparison:
    """Pairwise comparison of systems of one group by a metric."""

    dataset: Dataset
    options: Options
    group: str
    metric: str
    systems: tuple[RowScore, ...]
    """Rows with results on the same topics and a mean of the metric."""

    @cached_property
    def tests(self) -> tuple[PairTest, ...]:
        return tests_between(self.dataset, self.options, self.systems, self.metric)
