"""Row of a dataset on Home: coverage by people and by a judge, agreement, next step."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Dataset, User
from crux_site.datasets.doors import Door, agreement_door
from crux_site.datasets.next_step import NextStep, next_step
from crux_site.datasets.page import overview
from crux_site.datasets.summary import dataset_summary


@dataclass(frozen=True)
class DatasetRow:
    """A dataset in numbers; shares are pairs graded and possible, None where there are none."""

    dataset: Dataset
    by_people: tuple[int, int] | None
    by_judge: tuple[int, int] | None
    agreement: Door
    next: NextStep


def dataset_row(dataset: Dataset, user: User) -> DatasetRow:
    """Return the row of a dataset with the next step for the reader's role."""
    counts = overview(dataset)
    summary = dataset_summary(dataset, counts)
    return DatasetRow(
        dataset,
        counts.graded_by_people if counts.people_coverage else None,
        counts.graded_by_judge if counts.judge_fills else None,
        agreement_door(dataset, summary),
        next_step(dataset, counts, summary, dataset.project.role_of(user)),
    )
