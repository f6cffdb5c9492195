"""What a run may be told, and what tokens cost: for the form, the API and the commands alike."""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

CONCURRENCY = 4_096  # requests at once, of each worker
WORKERS = 256
PAIRS = 2**31 - 1  # what the columns hold
TOKENS = 2**63 - 1
MONEY = 10**12
PRICE = 10**12  # of a million tokens


class Prices(NamedTuple):
    """Of a million tokens, read and written."""

    price_in: float = 0
    price_out: float = 0
    currency: str = ""


def prices_of(
    endpoint: str, price_in: float = 0, price_out: float = 0, currency: str = ""
) -> Prices:
    """The prices that are given, or where none is, those of the endpoint in JUDGE_PRICES.

    All 0 where nobody says. Raises ImproperlyConfigured for an entry that cannot be read.
    """
    entry = settings.JUDGE_PRICES.get(endpoint)
    if price_in or price_out or entry is None:
        return Prices(price_in, price_out, currency)
    try:
        read, written, named = entry.split("/")
        return Prices(float(read), float(written), currency or named)
    except ValueError:
        raise ImproperlyConfigured(
            f"JUDGE_PRICES: {endpoint}={entry} is not like {endpoint}=0.10/0.40/EUR."
        ) from None
