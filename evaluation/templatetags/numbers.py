"""How estimates and other numbers are printed on the pages of results."""

from typing import Any

from django import template

from annotation.decimals import compact, printed
from evaluation.stats.estimate import Estimate

register = template.Library()


@register.filter
def figure(estimate: Estimate, places: int = 2) -> str:
    """Two decimals, or so many; or the word."""
    return "undefined" if estimate.value is None else printed(estimate.value, places)


@register.filter
def limits(estimate: Estimate, places: int = 2) -> str:
    """The interval in brackets; nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{printed(estimate.low, places)}, {printed(estimate.high, places)}]"


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
def decimals(value: float | None, places: int = 2) -> str:
    """A plain number as an estimate is printed; nothing for None."""
    return "" if value is None else printed(value, places)


@register.filter
def short(value: float, places: int = 1) -> str:
    """The same without zeros at the end."""
    return compact(value, places)


@register.filter
def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{printed(100 * share, 0)}%"


@register.filter
def chance(p: float | None) -> str:
    """A p value in three decimals, or that it is smaller."""
    if p is None:
        return "undefined"
    return "under 0.001" if p < 0.0005 else printed(p, 3)
