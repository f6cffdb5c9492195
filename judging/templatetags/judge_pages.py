"""Template filters of the judging pages: labels, numbers, durations."""

import json
from datetime import datetime, timedelta

from django import template
from django.template.defaultfilters import date
from django.utils import timezone

from annotation.decimals import printed
from judging.grading import labels
from judging.models import Judge

register = template.Library()


@register.filter
def failure_label(kind: str) -> str:
    """Return the reason why a reply has no grade."""
    return labels.failure_label(kind)


@register.filter
def duration(length: timedelta | None) -> str:
    """Format a duration roughly: "45 s", "2 min", "3 h 20 min", "2 d 4 h"."""
    if length is None:
        return ""
    seconds = round(length.total_seconds())
    if seconds < 100:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


@register.filter
def short_time(when: datetime) -> str:
    """Format a time: hours of today, or a day with its time."""
    is_today = timezone.localdate(when) == timezone.localdate()
    return date(timezone.localtime(when), "H:i T" if is_today else "j M, H:i T")


@register.filter
def percent_of(n: float, of: float) -> str:
    """Format a share in percent, with more digits for small shares; "" if `of` is 0.

    What is less than all is not shown as all, and what is more than nothing not as nothing.
    """
    if not of:
        return ""
    share = 100 * n / of
    if n < of and share >= 99.5:
        return ">99%"
    if 0 < share < 0.01:
        return "<0.01%"
    return f"{share:.0f}%" if share >= 10 or not share else f"{share:.2g}%"


@register.filter
def money(amount: float) -> str:
    """Format an amount with two decimals; less than 0.01 is not shown as 0."""
    return "<0.01" if 0 < amount < 0.01 else f"{amount:,.2f}"


@register.filter
def length_of(n: float, of: float) -> str:
    """Return a share as the length of a meter of 100."""
    return f"{min(100.0, 100 * n / of):.1f}" if of else "0"


@register.filter
def signed(number: float) -> str:
    """Format a number with two decimals and a sign, and no sign at 0."""
    return printed(number, sign=True)


def _parameter(name: str, value: object) -> str:
    if value is None:
        return f"no {name} sent"
    return f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}"


@register.filter
def as_json(value: object) -> str:
    """Format a value as JSON, as it is sent."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def sampling_summary(judge: Judge) -> str:
    """Describe the sampling of a judge in one line."""
    sampling = judge.spec.sampling
    sent = sampling.sent
    tokens = "one token" if sampling.max_tokens == 1 else f"{sampling.max_tokens:,} tokens at most"
    parts = [
        _parameter("temperature", sent.get("temperature")),
        _parameter("top p", sent.get("top_p")),
        tokens,
        f"seed {sent['seed']}" if "seed" in sent else "no seed",
        "with probabilities" if sampling.logprobs else "without probabilities",
    ]
    return ", ".join(parts)
