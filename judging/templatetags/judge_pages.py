"""Words and links of the pages about judges."""

import json
from datetime import datetime, timedelta

from django import template
from django.template.defaultfilters import date
from django.utils import timezone

from annotation.decimals import printed
from judging.grading import words
from judging.models import Judge

register = template.Library()


@register.filter
def failure_words(kind: str) -> str:
    """Why a reply has no grade."""
    return words.failure_words(kind)


@register.filter
def duration(length: timedelta | None) -> str:
    """About how long: "45 s", "2 min", "3 h 20 min", "2 d 4 h"."""
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
def at_about(when: datetime) -> str:
    """A time of today, or a day with its time."""
    is_today = timezone.localdate(when) == timezone.localdate()
    return date(timezone.localtime(when), "H:i T" if is_today else "j M, H:i T")


@register.filter
def percent_of(n: float, of: float) -> str:
    """A share in percent, with as many digits as small shares need; "" where there is nothing.

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
    """Two decimals; what is less than the least of them is not shown as nothing."""
    return "<0.01" if 0 < amount < 0.01 else f"{amount:,.2f}"


@register.filter
def length_of(n: float, of: float) -> str:
    """A share as the length of a meter of 100."""
    return f"{min(100.0, 100 * n / of):.1f}" if of else "0"


@register.filter
def signed(number: float) -> str:
    """Two decimals with a sign, and no sign at 0."""
    return printed(number, sign=True)


def _parameter(name: str, value: object) -> str:
    if value is None:
        return f"no {name} sent"
    return f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}"


@register.filter
def in_json(value: object) -> str:
    """As it is sent, and not as Python writes it."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def sampling_words(judge: Judge) -> str:
    """How the model is asked to write, in one line."""
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
