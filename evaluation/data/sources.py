"""Sources of grades, whose score a dataset: one rater's, the majority of the people, or people over a judge."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from django.db.models import Exists, OuterRef, Q

from annotation.models import Dataset, Rater, Rating
from annotation.models.rating import named
from annotation.models.standard import ANSWERABLE, GRADED
from evaluation.data.columns import JUDGE, Column, independent
from evaluation.data.default_judge import default_judge
from evaluation.data.selection import SelectionError, one_of

Kind = Literal["rater", "majority", "people over"]

MAJORITY = "majority"
OVER = "people:"  # before the name of a judge; a rater's own name has no colon


@dataclass(frozen=True, slots=True)
class Source:
    """Whose grades count, by a name for URLs and commands.

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
    def raters(self) -> tuple[int, ...]:
        """The keys of everybody whose ratings are read."""
        return tuple(rater.pk for rater in (*self.people, *filter(None, [self.rater])))


def sources(dataset: Dataset) -> tuple[Source, ...]:
    """What there is to choose from: judges, baselines, people, and what is made of them; one query.

    Raters without a rating of this dataset are left out, as are those who rated under other rubrics than
    those that scores are made of. A majority takes two people.
    """
    counted = Rating.objects.of_dataset(dataset).filter(
        rubric__slug__in=[GRADED.slug, ANSWERABLE.slug]
    )
    rated = Exists(counted.filter(rater=OuterRef("pk")))
    raters = (
        Rater.objects.filter(Q(dataset=dataset) | Q(dataset=None))
        .annotate(rated=rated)
        .order_by("name")
    )
    # Told apart by the same names as on the other pages; see annotation.models.rating.
    here = [rater for rater in raters if rater.dataset_id or rater.rated]
    names = {rater.pk: name for name, rater in named(here).items()}
    columns = [
        Column(rater.pk, names[rater.pk], rater.kind, JUDGE, rater.is_adjudicator)
        for rater in here
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
        choices += (Source(OVER + judge.name, "people over", judge, people) for judge in judges)
    return tuple(choices)


def source(dataset: Dataset, name: str | None = None) -> Source:
    """The source of this name; without one the default judge, else the first there is.

    Raises SelectionError, which lists the sources, for another name or if there is none.
    """
    choices = sources(dataset)
    if not choices:
        raise SelectionError(
            "Nobody has rated anything in this dataset yet under a rubric that scores are made of."
        )
    if not name:
        return _by_default(dataset, choices)
    one_of("source of grades", name, (choice.name for choice in choices))
    return next(choice for choice in choices if choice.name == name)


def _by_default(dataset: Dataset, choices: tuple[Source, ...]) -> Source:
    alone = {choice.rater: choice for choice in choices if choice.rater and not choice.people}
    taken = default_judge(dataset, [rater for rater in alone if rater.is_judge])
    return replace(alone[taken.judge], why=taken.why) if taken else choices[0]
