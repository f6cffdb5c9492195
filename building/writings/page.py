"""What the page of a writing shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from building.engine.wanted import Wanted
from building.engine.writings import told
from building.models import Draft, Order, Writing
from building.writing.products import FAILURES
from judging.engine.leases import held
from judging.grading.pairs import Failure as ServerFailure

LAST = 10
_OF_SERVERS = {
    ServerFailure.TOO_LONG: "The prompt does not fit the model.",
    ServerFailure.TIMEOUT: "The server took too long.",
    ServerFailure.CONNECTION: "The connection failed.",
    ServerFailure.SERVER: "The server failed.",
    ServerFailure.REQUEST: "The server did not take the request.",
    ServerFailure.MALFORMED: "The server’s answer could not be read.",
    ServerFailure.OTHER_MODEL: "Another model answered.",
    ServerFailure.OVERSIZED: "The reply was too large to keep.",
}
_WORDS = {
    **{failure.value: words for failure, words in _OF_SERVERS.items()},
    **{failure.value: words for failure, words in FAILURES.items()},
}


@dataclass(frozen=True)
class WritingPage:
    """`failures` are (words, how many drafts) of each kind; `lacking` orders that lack what they asked for."""

    told: dict[str, Any]
    wanted: Wanted
    failures: Sequence[tuple[str, int]]
    lacking: Sequence[Order]
    last: Sequence[Draft]
    is_live: bool
    has_workers: bool

    @property
    def percent(self) -> int:
        planned = self.told["planned"]
        return 100 * self.told["done"] // planned if planned else 100


def page_of(run: Writing) -> WritingPage:
    drafts = Draft.objects.filter(order__run=run).exclude(failure="")
    kinds = drafts.values_list("failure").annotate(n=Count("pk")).order_by("-n", "failure")
    newest = Draft.objects.filter(order__run=run).select_related("order__topic", "order__document")
    lacking = run.orders.exclude(failure="").select_related("topic", "document")
    return WritingPage(
        told=told(run),
        wanted=Wanted.from_json(run.selection),
        failures=[(in_words(failure), n) for failure, n in kinds],
        lacking=list(lacking[:LAST]),
        last=list(newest.order_by("-pk")[:LAST]),
        is_live=run.is_running,
        has_workers=held(run).exists(),
    )


def in_words(failure: str) -> str:
    return _WORDS.get(failure, failure)
