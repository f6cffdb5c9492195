"""What the page of nuggets is asked for: who weighed, who assigned, the rules, and what stands beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Count
from django.utils.http import urlencode

from annotation.models import Dataset, Rating, Text
from annotation.models.standard import IMPORTANCE, NUGGET_SUPPORT
from evaluation.data.columns import Column
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.selection import raters_under
from evaluation.data.sources import Source, sources
from evaluation.metrics.nuggets import Rules
from evaluation.scoring.options import RULE_WORDS, Options, ScoringForm


class NuggetsForm(QueryForm):
    support = OneOf("rater of the support of nuggets called")
    importance = OneOf("rater of the importance of nuggets called")
    rules = OneOf("set of rules", RULE_WORDS, initial="paper")
    beside = OneOf("dataset with reports of the same systems called")


@dataclass(frozen=True)
class NuggetChoice:
    """One state of the page. `support` and `importance` are None where nobody rated under the rubric."""

    dataset: Dataset
    support: Column | None
    importance: Column | None
    rules: Rules
    supporters: tuple[Column, ...]
    weighers: tuple[Column, ...]
    besides: tuple[Dataset, ...]
    """Other datasets with reports of the same systems on topics of the same names."""
    beside: Dataset | None
    options: Options | None
    """How the reports of the other dataset are scored; None where nobody rated there."""
    sources: tuple[Source, ...] = ()
    etas: tuple[int, ...] = ()

    @property
    def rule_words(self) -> list[tuple[str, str]]:
        return list(RULE_WORDS.items())

    @property
    def query(self) -> str:
        """The state as the query of a URL."""
        words: dict[str, object] = {
            "support": self.support and self.support.name,
            "importance": self.importance and self.importance.name,
            "rules": self.rules,
            "beside": self.beside and self.beside.slug,
            "source": self.options and self.options.source.name,
            "eta": self.options and self.options.eta,
        }
        return urlencode({name: str(value) for name, value in words.items() if value})

    @property
    def pair_query(self) -> str:
        """What the page of a pair is asked for, to show this rater's grade."""
        raters = self.support.name if self.support else ""
        return urlencode({"rubric": NUGGET_SUPPORT.slug, "raters": raters})


def nugget_choice(
    dataset: Dataset, words: Mapping[str, Any], is_alone: bool = False
) -> NuggetChoice:
    """The state that these parameters ask for; `is_alone` knows of no other dataset.

    Raises SelectionError for what is not there.
    """
    supporters = raters_under(dataset, NUGGET_SUPPORT.slug)
    weighers = raters_under(dataset, IMPORTANCE.slug)
    besides = () if is_alone else _besides(dataset)
    form = NuggetsForm(words)
    form.offer(
        support=[column.name for column in supporters],
        importance=[column.name for column in weighers],
        beside=[other.slug for other in besides],
    )
    asked = form.asked()
    beside = next((other for other in besides if other.slug == asked["beside"]), None)
    options, offered, etas = _scoring(beside, words)
    return NuggetChoice(
        dataset,
        _called(dataset, supporters, NUGGET_SUPPORT.slug, asked["support"]),
        _called(dataset, weighers, IMPORTANCE.slug, asked["importance"]),
        cast(Rules, asked["rules"]),
        supporters,
        weighers,
        besides,
        beside,
        options,
        offered,
        etas,
    )


def _called(
    dataset: Dataset, columns: tuple[Column, ...], rubric: str, name: str | None
) -> Column | None:
    """The one of this name; without one who rated most under the rubric, of equals the first."""
    if name is not None:
        return next(column for column in columns if column.name == name)
    rated = Rating.objects.of_dataset(dataset).filter(rubric__slug=rubric).order_by()
    n_of = dict(rated.values_list("rater").annotate(Count("pk")))
    return max(columns, key=lambda column: n_of.get(column.pk, 0), default=None)


def _besides(dataset: Dataset) -> tuple[Dataset, ...]:
    reports = Text.objects.filter(kind=Text.Kind.REPORT)
    own = reports.filter(dataset=dataset)
    like = reports.exclude(dataset=dataset).filter(
        system__in=own.order_by().values("system").distinct(),
        topic__name__in=own.order_by().values("topic__name").distinct(),
    )
    return tuple(
        dataset.project.datasets.filter(pk__in=like.order_by().values("dataset").distinct())
    )


def _scoring(
    beside: Dataset | None, words: Mapping[str, Any]
) -> tuple[Options | None, tuple[Source, ...], tuple[int, ...]]:
    if beside is None or not (offered := sources(beside)):
        return None, (), ()
    kept = {name: words[name] for name in ("source", "eta", "rules") if words.get(name)}
    form = ScoringForm(beside, kept)
    return form.options(), offered, form.etas
