"""Default judge of a dataset, for pages and commands where no judge is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.db.models import Count, Min

from annotation.models import Dataset, Rater, Rating

if TYPE_CHECKING:
    from evaluation.data.columns import Column

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DefaultJudge:
    """Default judge, and why it is this one, in a sentence; empty where there is no other."""

    judge: Column
    why: str


def default_judge(dataset: Dataset, judges: Sequence[Column]) -> DefaultJudge | None:
    """Return the default judge among these; None if there are none.

    Models go before baselines. Of the models that graded at least half as many pairs of the dataset
    as any other, the one that graded here first: a trial does not stay the default for ever, and a
    new judge becomes it only with more than twice as many grades. Of baselines the same.
    """
    if not judges:
        return None
    models = [judge for judge in judges if judge.kind == Rater.Kind.MODEL]
    among = models or judges
    first = among[0] if len(among) == 1 else _first(dataset, among)
    if len(judges) == 1:
        return DefaultJudge(first, "")
    if not models:
        return DefaultJudge(first, f"Graded by {first.title}: no model has graded this dataset.")
    if len(models) == 1:
        return DefaultJudge(first, f"Graded by {first.title}, the only model of this dataset.")
    return DefaultJudge(
        first,
        f"Graded by {first.title}, 1 of {len(models)} models: the first to grade, of those with at least "
        "half as many pairs as any other.",
    )


def _first(dataset: Dataset, judges: Sequence[Column]) -> Column:
    # All of their kind are counted, also those whom a page cannot choose: what is first on one page
    # is not second on another.
    rows = (
        Rating.objects.of_dataset(dataset)
        .filter(rater__kind=judges[0].kind)
        .order_by()
        .values_list("rater_id")
        .annotate(n=Count("pk"), began=Min("created"), key=Min("pk"))
    )
    by_rater = {rater: (n, (began, key)) for rater, n, began, key in rows}
    largest = max((n for n, _ in by_rater.values()), default=0)

    def priority(judge: Column) -> tuple[bool, tuple[datetime, int]]:
        n, began = by_rater.get(judge.pk, (0, (_NEVER, 0)))
        return 2 * n < largest, began

    return min(judges, key=priority)
