"""Links, heads and cells of the retrieval room."""

from typing import Any

from django import template
from django.urls import reverse

from annotation.decimals import printed
from evaluation import charts
from evaluation.http import OF_SCORES
from evaluation.retrieval import charts as retrieval_charts
from evaluation.retrieval.params import Choice
from evaluation.scoring.measured import NO_RANKING
from evaluation.scoring.row_score import RUNS, RowScore
from evaluation.stats.randomisation import Randomisation

register = template.Library()


@register.simple_tag
def room_url(choice: Choice, page: str, *place: Any, **changes: Any) -> str:
    """A page of the room in the same state, with changes; `place` is what its URL names."""
    query = choice.query(**changes)
    url = reverse(page, args=[choice.dataset.slug, *place])
    return f"{url}?{query}" if query else url


@register.simple_tag
def query_with(choice: Choice, **changes: Any) -> str:
    """The same page in the same state, with changes, as the query of a URL."""
    return choice.query(**changes)


@register.simple_tag
def matrix_url(choice: Choice, topic: int, row: RowScore | None = None) -> str:
    """The rating matrix of a topic by the same grades, with a run in it if the row is one."""
    others = {key: None for key in choice.words if key not in OF_SCORES}
    run = row.name if row and row.group == RUNS else None
    query = choice.query(**others | {"run": run})
    url = reverse("matrix", args=[choice.dataset.slug, topic])
    return f"{url}?{query}" if query else url


@register.inclusion_tag("evaluation/retrieval/_head.html")
def sort_head(choice: Choice, by: str, words: str, is_number: bool = True) -> dict[str, Any]:
    """The head of a column: a link that orders the table by it, and then the other way round."""
    falls = choice.falls if choice.by == by else not is_number
    sort = by if falls else f"-{by}"
    return {
        "choice": choice,
        "by": by,
        "words": words,
        "is_number": is_number,
        "query": choice.query(sort=sort),
    }


@register.simple_tag
def title_of(choice: Choice, metric: str) -> str:
    """A metric as it is shown, with its depth."""
    return choice.titles[metric]


@register.inclusion_tag("evaluation/retrieval/_mean.html")
def mean_of(row: RowScore, metric: str, axis: charts.Axis) -> dict[str, Any]:
    """A mean with its interval drawn and in numbers; or "undefined" and why."""
    estimate = row.means[metric]
    return {
        "estimate": estimate,
        "strip": charts.strip(estimate, axis),
        "ndeval": row.mean_ndeval if metric == "alpha_ndcg" else None,
        "no_ranking": estimate.reason == NO_RANKING,
    }


@register.filter
def shade(value: float | None) -> int:
    return retrieval_charts.shade(value)


@register.filter
def how(flip: Randomisation) -> str:
    """Where a p value comes from."""
    if flip.p is None:
        return ""
    if flip.exact:
        return f"exact, all {flip.n_arrangements:,} arrangements"
    return f"sampled, {flip.n_arrangements:,} arrangements from seed {flip.seed}"


@register.filter
def signed(value: float | None) -> str:
    """Two decimals with their sign, the minus a true one."""
    return "undefined" if value is None else printed(value, sign=True)


@register.filter
def two(value: float | None) -> str:
    """Two decimals, or the word."""
    return "undefined" if value is None else printed(value)
