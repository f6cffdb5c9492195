"""Sources of grades for scores: one rater, the majority of people, or people over a judge."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from django.db.models import Q

from annotation.models import Dataset, Rater, Rating, Rubric
from annotation.models.rating import raters_by_name
from annotation.models.standard import ANSWERABLE, GRADED
from evaluation.data.columns import JUDGE, Column, independent
from evaluation.data.default_judge import default_judge
from evaluation.data.selection import SelectionError, one_of

Kind = Literal["rater", "majority", "people over"]

MAJORITY = "majority"
PEOPLE_PREFIX = "people:"  # before the name of a judge; a rater's own name has no colon


@dataclass(frozen=True, slots=True)
class Source:
    """Source of the grades that count, by a name for URLs and commands.

    - `rater`: one person, model or baseline, with the grades that it gave.
    - `majority`: answerable or not, as more than half of the people who rated the cell say, each
      read at eta. A tie is no grade: the cell is unrated.
    - `people over`: the same where people have a majority, else what the judge says at eta.

    Adjudicators are not among the people: they have seen what the others said.
    """

    name: str
    kind: Kind
    rater: Column | None
    """The one rater, or the judge beneath the people; None for a majority."""
    people: tuple[Column, ...] = ()
    why: str = field(default="", compare=False)
    """Why it was taken, in a sentence, where nobody named one and there are others."""

    @property
    def title(self) -> str:
        """As it is shown: a baseline is always called one."""
        if self.rater is None:
            return f"majority of {len(self.people)} people"
        return f"people over {self.rater.title}" if self.people else self.rater.title

    @property
    def judge(self) -> int | None:
        """The key of the rater, if that is a model or a baseline."""
        return self.rater.pk if self.rater and self.rater.is_judge else None

    @property
    def raters(self) -> tuple[int, ...]:
        """The keys of everybody whose ratings are read."""
        return tuple(rater.pk for rater in (*self.people, *filter(None, [self.rater])))


def sources(dataset: Dataset) -> tuple[Source, ...]:
    """Return judges, baselines, people and combinations of a dataset: two queries.

    Raters without a rating of this dataset are left out, as are those who rated under other rubrics than
    those that scores are made of. A majority takes two people.
    """
    rubrics = Rubric.objects.filter(slug__in=[GRADED.slug, ANSWERABLE.slug])
    counted = Rating.objects.of_dataset(dataset).filter(
        # By their keys: the order of the index begins with them.
        rubric__in=list(rubrics.values_list("pk", flat=True))
    )
    raters = (
        Rater.objects.filter(Q(dataset=dataset) | Q(dataset=None))
        .annotate(rated=counted.exist_for_rater())
        .order_by("name")
    )
    # Told apart by the same names as on the other pages; see annotation.models.rating.
    present = [rater for rater in raters if rater.dataset_id or rater.rated]
    names = {rater.pk: name for name, rater in raters_by_name(present).items()}
    columns = [
        Column(rater.pk, names[rater.pk], rater.kind, JUDGE, rater.is_adjudicator)
        for rater in present
        if rater.rated
    ]
    order = [Rater.Kind.MODEL, Rater.Kind.BASELINE, Rater.Kind.HUMAN, Rater.Kind.AGGREGATE]
    columns.sort(key=lambda column: (order.index(Rater.Kind(column.kind)), column.name))
    judges = [column for column in columns if column.is_judge]
    people = independent(columns)
    choices = [Source(column.name, "rater", column) for column in columns]
    if len(people) > 1:
        choices.append(Source(MAJORITY, "majority", None, people))
    if people:
        choices += (
            Source(PEOPLE_PREFIX + judge.name, "people over", judge, people) for judge in judges
        )
    return tuple(choices)


def source(dataset: Dataset, name: str | None = None) -> Source:
    """Return the source of this name; without one the default judge, else the first source.

    Raises SelectionError, which lists the sources, for another name or if there is none.
    """
    choices = sources(dataset)
    if not choices:
        raise SelectionError(
            "This dataset has no ratings under a rubric from which scores can be computed."
        )
    if not name:
        return _by_default(dataset, choices)
    one_of("source of grades", name, (choice.name for choice in choices))
    return next(choice for choice in choices if choice.name == name)


def _by_default(dataset: Dataset, choices: tuple[Source, ...]) -> Source:
    by_rater = {choice.rater: choice for choice in choices if choice.rater and not choice.people}
    default = default_judge(dataset, [rater for rater in by_rater if rater.is_judge])
    return replace(by_rater[default.judge], why=default.why) if default else choices[0]
