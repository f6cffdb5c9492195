"""Query of the page of nuggets: raters, rules, and a dataset to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Count
from django.utils.http import urlencode

from annotation.models import Dataset, Rating, Text
from annotation.models.standard import IMPORTANCE, NUGGET_SUPPORT
from evaluation.data.columns import Column
from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, parameter
from evaluation.data.selection import raters_under
from evaluation.replications.nuggets.metrics import Rules
from evaluation.scoring.options import RULE_WORDS, ScoringQuery


class NuggetQuery(PageQuery):
    """Raters, rules, and a dataset whose coverage orders the same systems.

    `support` and `importance` are None without ratings under the rubric. `scoring` is how the reports
    of the other dataset are scored, None where nobody rated there.
    """

    support: Column | None = parameter(OneOf("rater of the support of nuggets called"))
    importance: Column | None = parameter(OneOf("rater of the importance of nuggets called"))
    rules: Rules = parameter(OneOf("set of rules", RULE_WORDS, initial="paper"))
    comparison: Dataset | None = parameter(
        OneOf("dataset with reports of the same systems called"), "beside"
    )

    scoring: ScoringQuery | None

    def __init__(self, dataset: Dataset, params: Mapping[str, Any], only_own: bool = False) -> None:
        """`only_own` hides all other datasets."""
        self.dataset = dataset
        self.supporters = raters_under(dataset, NUGGET_SUPPORT.slug)
        self.weighers = raters_under(dataset, IMPORTANCE.slug)
        self.comparison_datasets = () if only_own else _comparable_datasets(dataset)
        super().__init__(
            params,
            support={rater.name: rater.title for rater in self.supporters},
            importance={rater.name: rater.title for rater in self.weighers},
            beside={row.slug: row.title for row in self.comparison_datasets},
        )

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        comparable = {row.slug: row for row in self.comparison_datasets}
        dataset, comparison = self.dataset, comparable.get(values["beside"])
        names = ("source", "eta", "rules")
        scoring = {name: self.data[name] for name in names if self.data.get(name)}
        self.scoring = ScoringQuery.of_rated(comparison, scoring) if comparison else None
        return values | {
            "support": _rater(dataset, self.supporters, NUGGET_SUPPORT.slug, values["support"]),
            "importance": _rater(dataset, self.weighers, IMPORTANCE.slug, values["importance"]),
            "beside": comparison,
        }

    def filter_phrases(self) -> Iterator[Phrase]:
        for noun, rater in (("support", self.support), ("importance", self.importance)):
            if rater:
                yield Phrase(f"{noun} by {rater.title}", rater.pk if rater.is_judge else None)
        yield Phrase(f"rules {self.labels['rules']}")
        if self.comparison:
            yield Phrase(f"beside coverage in {self.comparison.title}")

    def params(self, **changes: Any) -> dict[str, Any]:
        scoring = self.scoring
        of_scoring = {"source": scoring.source.name, "eta": scoring.eta} if scoring else {}
        return super().params(**of_scoring, **changes)

    @property
    def pair_query(self) -> str:
        """Query of the page of a pair, with the rater of support selected."""
        raters = self.support.name if self.support else ""
        return urlencode({"rubric": NUGGET_SUPPORT.slug, "raters": raters})


def nugget_query(
    dataset: Dataset, params: Mapping[str, Any], *, only_own: bool = False
) -> NuggetQuery:
    """Parse the parameters of a URL. Raises SelectionError for a choice that does not exist."""
    return NuggetQuery(dataset, params, only_own=only_own).parse()


def _rater(
    dataset: Dataset, columns: tuple[Column, ...], rubric: str, name: str | None
) -> Column | None:
    """Return the rater of this name; without a name the one with most ratings, or the first."""
    if name is not None:
        return next(column for column in columns if column.name == name)
    rated = Rating.objects.of_dataset(dataset).filter(rubric__slug=rubric).order_by()
    n_of = dict(rated.values_list("rater").annotate(Count("pk")))
    return max(columns, key=lambda column: n_of.get(column.pk, 0), default=None)


def _comparable_datasets(dataset: Dataset) -> tuple[Dataset, ...]:
    reports = Text.objects.filter(kind=Text.Kind.REPORT)
    own_reports = reports.filter(dataset=dataset)
    similar_reports = reports.exclude(dataset=dataset).filter(
        system__in=own_reports.order_by().values("system").distinct(),
        topic__name__in=own_reports.order_by().values("topic__name").distinct(),
    )
    return tuple(
        dataset.project.datasets.filter(
            pk__in=similar_reports.order_by().values("dataset").distinct()
        )
    )
