"""Default timeout of a reply, where a run sets none."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from judging.llm.sampling import Sampling

SHORTEST, LONGEST = 180, 3_600  # seconds
_MIN_THINKING_SECONDS = 600
# Seconds of a token: of a public service, and of a server of one's own, whose GPU many requests share.
_PUBLIC, _LOCAL = 0.05, 0.1
_THINKING_FROM = 2_000  # tokens: nothing that is graded is as long
_ALL_TOKENS = ("max_tokens", "max_completion_tokens")


def reply_seconds(sampling: Sampling, urls: Sequence[str]) -> int:
    """Return the seconds that a reply may take, by tokens, thinking and kind of server.

    From SHORTEST, with which a server of one slot has time for more than one reply, to LONGEST. A model that
    thinks has 10 minutes at least, as its thoughts may be counted late and not be told.
    """
    limits = [sampling.extra.get(name) for name in _ALL_TOKENS]
    tokens = max([sampling.max_tokens, *(limit for limit in limits if isinstance(limit, int))])
    seconds_per_token = _LOCAL if any(_is_local(url) for url in urls) else _PUBLIC
    least = _MIN_THINKING_SECONDS if _thinks(sampling.extra, tokens) else SHORTEST
    return min(LONGEST, max(least, round(SHORTEST + tokens * sampling.samples * seconds_per_token)))


def _thinks(extra: Mapping[str, object], tokens: int) -> bool:
    kwargs: Any = extra.get("chat_template_kwargs")
    configured = isinstance(kwargs, Mapping) and bool(kwargs.get("enable_thinking"))
    return configured or tokens >= _THINKING_FROM or any("reasoning" in name for name in extra)


def _is_local(url: str) -> bool:
    """Return True for an address of this machine or network, or a host name without a dot."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))
