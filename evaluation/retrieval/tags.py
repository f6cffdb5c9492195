"""Template tags for links and cells of the retrieval pages."""

from typing import Any

from django import template
from django.urls import reverse

from annotation.decimals import printed
from evaluation.http import SCORING_PARAMS
from evaluation.retrieval import charts as retrieval_charts
from evaluation.retrieval.query import RetrievalQuery
from evaluation.scoring.relevance import RelevanceRow
from evaluation.scoring.row_score import RUNS, RowScore
from evaluation.stats.randomisation import Randomisation
from evaluation.templatetags.results_table import number

register = template.Library()


@register.simple_tag
def page_url(choice: RetrievalQuery, page: str, *args: Any, **changes: Any) -> str:
    """Return the URL of a retrieval page in the same state, with changes.

    `args` are the arguments of its URL.
    """
    query = choice.query(**changes)
    url = reverse(page, args=[choice.dataset.slug, *args])
    return f"{url}?{query}" if query else url


@register.simple_tag
def matrix_url(choice: RetrievalQuery, topic: int, row: RowScore | None = None) -> str:
    """Return the URL of a topic's rating matrix by the same grades, with the row's run."""
    dropped = {key: None for key in choice.given_params if key not in SCORING_PARAMS}
    run = row.name if row and row.group == RUNS else None
    query = choice.query(**dropped | {"run": run})
    url = reverse("matrix", args=[choice.dataset.slug, topic])
    return f"{url}?{query}" if query else url


@register.simple_tag
def title_of(choice: RetrievalQuery, metric: str) -> str:
    """Return the title of a metric, with its depth."""
    return choice.titles[metric]


@register.simple_tag(takes_context=True)
def mean(context: template.Context, row: RowScore | RelevanceRow, metric: str) -> str:
    """Add a mean to a row of a table, with its interval, n and missing; ndeval's beside it."""
    ndeval = row.mean_ndeval if metric == "alpha_ndcg" else None
    note = "" if ndeval is None else f"ndeval {printed(ndeval)}"
    return number(context, row.means[metric], n=True, note=note)


@register.filter
def shade(value: float | None) -> int:
    return retrieval_charts.shade(value)


@register.filter
def p_value_method(flip: Randomisation) -> str:
    """Return the method of a p value: exact or sampled."""
    if flip.p is None:
        return ""
    if flip.exact:
        return f"exact, all {flip.n_arrangements:,} arrangements"
    return f"sampled, {flip.n_arrangements:,} arrangements from seed {flip.seed}"


@register.filter
def signed(value: float | None) -> str:
    """Format with two decimals and the sign, with a true minus."""
    return "undefined" if value is None else printed(value, sign=True)


@register.filter
def two_decimals(value: float | None) -> str:
    """Format with two decimals, or as "undefined"."""
    return "undefined" if value is None else printed(value)
