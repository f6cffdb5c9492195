"""Template filters that format estimates and other numbers on the pages of results."""

from typing import Any

from django import template

from annotation.decimals import compact, printed
from evaluation.stats.estimate import Estimate

register = template.Library()


@register.filter
def figure(estimate: Estimate, decimal_places: int = 2) -> str:
    """Format an estimate with two decimals, or so many; or as "undefined"."""
    return "undefined" if estimate.value is None else printed(estimate.value, decimal_places)


@register.filter
def limits(estimate: Estimate, decimal_places: int = 2) -> str:
    """Format the interval in brackets; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{printed(estimate.low, decimal_places)}, {printed(estimate.high, decimal_places)}]"


@register.filter
def undefined_reason(estimate: Estimate) -> str:
    """Return the reason why a value is undefined, without the prefix "undefined"."""
    return (estimate.reason or "").removeprefix("undefined, ")


@register.filter
def no_interval_reason(estimate: Estimate) -> str:
    return (estimate.interval_reason or "").removeprefix("no interval, ")


@register.inclusion_tag("evaluation/_measure.html")
def measure(estimate: Estimate, with_interval: bool = True, url: str = "") -> dict[str, Any]:
    """Render a number, linked to what it counts, with its interval; or "undefined" and why."""
    return {"estimate": estimate, "with_interval": with_interval, "url": url}


@register.filter
def decimals(value: float | None, decimal_places: int = 2) -> str:
    """Format a plain number like an estimate; empty for None."""
    return "" if value is None else printed(value, decimal_places)


@register.filter
def compact_number(value: float, decimal_places: int = 1) -> str:
    """Format a number without zeros at the end."""
    return compact(value, decimal_places)


@register.filter
def percent(share: float) -> str:
    """Format a share in whole percent."""
    return f"{printed(100 * share, 0)}%"


@register.filter
def p_value(p: float | None) -> str:
    """Format a p value with three decimals, or as a bound if it is smaller."""
    if p is None:
        return "undefined"
    return "under 0.001" if p < 0.0005 else printed(p, 3)
