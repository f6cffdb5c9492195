"""Query of the page Label next: rubric, people, judge, system, sample size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.http import QueryDict

from annotation.models import Dataset, Rater, Rating, Text
from annotation.models.standard import ANSWERABLE, GRADED
from annotation.plurals import n_of
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import JUDGE, Column
from evaluation.data.default_judge import default_judge
from evaluation.data.filter_line import Phrase
from evaluation.data.measures import measures_of
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.data.query import OneOf, PageQuery, parameter
from evaluation.data.selection import Selection, SelectionError, one_of, select

DEFAULT_SIZE = 10  # reports in a sample by default
MAX_SIZE = 100_000


class SampleSize(forms.Field):
    """Form field for a number of reports, in digits alone."""

    def clean(self, value: Any) -> int:
        if not value:
            return DEFAULT_SIZE
        if not re.fullmatch("[0-9]{1,9}", value) or not 1 <= int(value) <= MAX_SIZE:
            raise SelectionError(
                f"“{value[:40]}” is not a number of reports: enter a whole number from 1 to {MAX_SIZE:,}."
            )
        return int(value)


class LabelQuery(PageQuery):
    """System and size of a new sample, beside the selection. Without `system` all count."""

    system: str = parameter(OneOf("system"))
    size: int = parameter(SampleSize(required=False))

    def __init__(self, selection: Selection, params: Mapping[str, Any]) -> None:
        dataset = self.dataset = selection.dataset
        self.selection = selection
        reports = Text.objects.filter(dataset=dataset, kind=Text.Kind.REPORT, topic__isnull=False)
        names = reports.order_by("system").values_list("system", flat=True).distinct()
        self.systems = SHARED_CACHE.until_db_write(
            (CacheKey.SYSTEMS_OF_REPORTS, dataset.pk), lambda: tuple(names)
        )
        super().__init__(params, system=self.systems)

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        return values | {"system": values["system"] or ""}

    def filter_phrases(self) -> Iterator[Phrase]:
        yield from self.selection.filter_phrases()
        yield Phrase(self.system or "all systems")
        yield Phrase(f"sample of {n_of(self.size, 'report')}")

    def params(self, **changes: Any) -> dict[str, Any]:
        return self.selection.params(**super().params(**changes))


def label_params(params: QueryDict) -> dict[str, Any]:
    """Return rubric, raters, judge and eta of a URL.

    A form that was filled in for another rubric has the rubric alone.
    """
    rubric = params.get("rubric")
    if rubric != params.get("of_rubric", rubric):
        return {"rubric": rubric}
    judge, eta = params.get("judge"), params.get("eta")
    return {"rubric": rubric, "raters": params.getlist("raters"), "judge": judge, "eta": eta}


def label_query(
    dataset: Dataset,
    *,
    rubric: str | None = None,
    raters: Sequence[str] = (),
    judge: str | None = None,
    eta: str | None = None,
    system: str | None = None,
    size: str | None = None,
) -> LabelQuery:
    """Parse the parameters of a URL. Raises SelectionError for a choice that does not exist.

    The judges are those that graded reports under the rubric or the graded one, whether or not
    people have labelled any; without `judge` the dataset's default one of them is taken.
    """
    plain = _with_eta(dataset, rubric=rubric, raters=raters, eta=eta)
    judges = _judges(plain)
    default = None if judge else default_judge(dataset, tuple(judges))
    chosen = default.judge if default else None
    if judge:
        one_of("judge with grades of reports called", judge, (column.name for column in judges))
        chosen = next(column for column in judges if column.name == judge)
    selection = replace(
        plain,
        judge=chosen,
        judges=tuple(judges),
        judge_rubric=judges[chosen] if chosen else plain.rubric,
        judge_reason=default.why if default else "",
    )
    return LabelQuery(selection, {"system": system, "size": size}).parse()


def _with_eta(dataset: Dataset, *, rubric: str | None, **options: Any) -> Selection:
    """Return a selection under a rubric with an answerable grade, which coverage needs."""
    selection = select(dataset, rubric=rubric, **options)
    if "coverage" not in selection.measures:
        if rubric:
            raise SelectionError(
                f"No grade of {selection.rubric.title} means answerable, so coverage cannot be estimated."
            )
        selection = select(dataset, rubric=ANSWERABLE.slug, **options)
    usable = tuple(row for row in selection.rubrics if "coverage" in measures_of(row))
    return replace(selection, rubrics=usable)


def _judges(selection: Selection) -> dict[Column, Any]:
    graded = [rubric for rubric in selection.rubrics if rubric.slug == GRADED.slug]
    judges: dict[Column, Any] = {}
    for rubric in (selection.rubric, *graded):
        of_reports = Rating.objects.of_dataset(selection.dataset).filter(
            rubric=rubric, text__kind=Text.Kind.REPORT
        )
        raters = Rater.objects.filter(
            of_reports.exist_for_rater(), kind__in=[Rater.Kind.MODEL, Rater.Kind.BASELINE]
        )
        for rater in sorted(
            raters, key=lambda rater: (rater.kind == Rater.Kind.BASELINE, rater.name)
        ):
            judges.setdefault(Column(rater.pk, rater.name, rater.kind, JUDGE), rubric)
    return judges
