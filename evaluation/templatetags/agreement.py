"""How numbers are printed on the pages of agreement, and where they lead."""

from typing import Any

from django import template
from django.urls import reverse

from evaluation.agreement.estimate import Estimate
from evaluation.pairs_page.pair_list import PairList
from evaluation.selection import Selection

register = template.Library()


@register.simple_tag
def pairs_url(selection: Selection, **changes: Any) -> str:
    """The list of the pairs that a number counts."""
    return f"{reverse('pairs', args=[selection.dataset.slug])}?{selection.query(**changes)}"


@register.simple_tag
def part_url(selection: Selection, parameter: str, name: str, kind: str) -> str:
    """The pairs behind a number about one topic or system (`parameter`)."""
    return pairs_url(selection, kind=kind, **{parameter: name})


@register.simple_tag
def cells_url(selection: Selection, cell: str, eta: int, rater: str = "", system: str = "") -> str:
    """The pairs in cells of a confusion at an eta: of one rater, of one system, or of all."""
    only = {"raters": rater, "system": system}
    wanted = {key: value for key, value in only.items() if value}
    return pairs_url(selection, cell=cell, eta=eta, **wanted)


@register.simple_tag
def table_url(selection: Selection, table: str, truth: str = "") -> str:
    """A table of the agreement page as a file."""
    url = reverse("agreement_csv", args=[selection.dataset.slug, table])
    return f"{url}?{selection.query(truth=truth or None)}"


@register.simple_tag
def json_url(selection: Selection) -> str:
    """The agreement page as a file."""
    return f"{reverse('agreement_json', args=[selection.dataset.slug])}?{selection.query()}"


@register.simple_tag
def agreement_url(selection: Selection, **changes: Any) -> str:
    """The agreement page for the same selection, with changes."""
    return f"{reverse('agreement', args=[selection.dataset.slug])}?{selection.query(**changes)}"


@register.simple_tag
def list_url(found: PairList, **changes: Any) -> str:
    """The same list of pairs, with changes."""
    slug = found.matrix.selection.dataset.slug
    return f"{reverse('pairs', args=[slug])}?{found.query(**changes)}"


@register.simple_tag
def list_file_url(found: PairList) -> str:
    """The list of pairs, all of them, as a file."""
    slug = found.matrix.selection.dataset.slug
    return f"{reverse('pairs_csv', args=[slug])}?{found.query()}"


@register.filter
def figure(estimate: Estimate) -> str:
    """Two decimals, or the word."""
    return "undefined" if estimate.value is None else _decimals(estimate.value)


@register.filter
def limits(estimate: Estimate) -> str:
    """The interval in brackets; nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{_decimals(estimate.low)}, {_decimals(estimate.high)}]"


@register.filter
def why(estimate: Estimate) -> str:
    """Why a value is undefined, without the word that stands before it."""
    return (estimate.reason or "").removeprefix("undefined, ")


@register.filter
def why_no_interval(estimate: Estimate) -> str:
    return (estimate.interval_reason or "").removeprefix("no interval, ")


@register.inclusion_tag("evaluation/_measure.html")
def measure(estimate: Estimate, with_interval: bool = True, url: str = "") -> dict[str, Any]:
    """A number, linked to what it counts, with its interval; or "undefined" and why."""
    return {"estimate": estimate, "with_interval": with_interval, "url": url}


@register.filter
def decimals(value: float) -> str:
    """A plain number as an estimate is printed."""
    return _decimals(value)


def _decimals(value: float) -> str:
    """Two decimals with a true minus sign, and none before what rounds to zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")
