"""What the page about labelling is asked for: a rubric, people, a judge of reports, a system, a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils.http import urlencode

from annotation.models import Dataset, Rater, Rating, Text
from annotation.models.standard import ANSWERABLE, GRADED
from evaluation.data.columns import JUDGE, Column
from evaluation.data.default_judge import default_judge
from evaluation.data.held import COUNTED
from evaluation.data.measures import measures_of
from evaluation.data.selection import Selection, SelectionError, one_of, select

SIZE = 10  # reports in a sample where nothing else is asked for
MOST = 100_000


@dataclass(frozen=True)
class LabelChoice:
    """`system` is empty for all systems; `size` is how many reports a sample takes."""

    selection: Selection
    system: str
    systems: tuple[str, ...]
    size: int

    @property
    def fields(self) -> dict[str, str]:
        return self.selection.params(system=self.system, size=self.size)

    @property
    def query(self) -> str:
        return urlencode(self.fields)


def label_choice(
    dataset: Dataset,
    *,
    rubric: str | None = None,
    raters: Sequence[str] = (),
    judge: str | None = None,
    eta: str | None = None,
    system: str | None = None,
    size: str | None = None,
) -> LabelChoice:
    """The choice that these words ask for. Raises SelectionError for what is not there.

    The judges are those that graded reports under the rubric or the graded one, whether or not
    people have labelled any; without `judge` the dataset's default one of them is taken.
    """
    plain = _with_eta(dataset, rubric=rubric, raters=raters, eta=eta)
    judges = _judges(plain)
    default = None if judge else default_judge(dataset, tuple(judges))
    taken = default.judge if default else None
    if judge:
        one_of("judge that graded reports, called", judge, (column.name for column in judges))
        taken = next(column for column in judges if column.name == judge)
    selection = replace(
        plain,
        judge=taken,
        judges=tuple(judges),
        judge_rubric=judges[taken] if taken else plain.rubric,
        why_judge=default.why if default else "",
    )
    reports = Text.objects.filter(dataset=dataset, kind=Text.Kind.REPORT, topic__isnull=False)
    names = reports.order_by("system").values_list("system", flat=True).distinct()
    systems = COUNTED.while_unwritten(("systems", dataset.pk), lambda: tuple(names))
    if system:
        one_of("system", system, systems)
    return LabelChoice(selection, system or "", systems, _size(size))


def _with_eta(dataset: Dataset, *, rubric: str | None, **more: Any) -> Selection:
    """A selection under a rubric with a grade that says answerable: what coverage is made of."""
    selection = select(dataset, rubric=rubric, **more)
    if "coverage" not in selection.measures:
        if rubric:
            raise SelectionError(
                f"No grade of {selection.rubric.title} says answerable: there is no coverage to estimate."
            )
        selection = select(dataset, rubric=ANSWERABLE.slug, **more)
    usable = tuple(each for each in selection.rubrics if "coverage" in measures_of(each))
    return replace(selection, rubrics=usable)


def _judges(selection: Selection) -> dict[Column, Any]:
    graded = [rubric for rubric in selection.rubrics if rubric.slug == GRADED.slug]
    judges: dict[Column, Any] = {}
    for rubric in (selection.rubric, *graded):
        of_reports = Rating.objects.of_dataset(selection.dataset).filter(
            rater=OuterRef("pk"), rubric=rubric, text__kind=Text.Kind.REPORT
        )
        raters = Rater.objects.filter(
            Exists(of_reports), kind__in=[Rater.Kind.MODEL, Rater.Kind.BASELINE]
        )
        for rater in sorted(
            raters, key=lambda rater: (rater.kind == Rater.Kind.BASELINE, rater.name)
        ):
            judges.setdefault(Column(rater.pk, rater.name, rater.kind, JUDGE), rubric)
    return judges


def _size(value: str | None) -> int:
    if not value:
        return SIZE
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= MOST:
        raise SelectionError(
            f"“{value}” is no number of reports: it is a whole number from 1 to {MOST:,}."
        )
    return int(value)
