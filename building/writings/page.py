"""Page of a generation run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from building.engine.generation_spec import GenerationSpec
from building.engine.writings import progress_of
from building.models import Draft, Order, Writing
from building.writing.outputs import FAILURES
from judging.execution.leases import leased
from judging.llm.errors import Failure as ServerFailure

LAST = 10
_OF_SERVERS = {
    ServerFailure.TOO_LONG: "The prompt does not fit the model.",
    ServerFailure.TIMEOUT: "The server took too long.",
    ServerFailure.CONNECTION: "The connection failed.",
    ServerFailure.SERVER: "The server failed.",
    ServerFailure.REQUEST: "The server refused the request.",
    ServerFailure.MALFORMED: "The server’s answer could not be read.",
    ServerFailure.OTHER_MODEL: "Another model replied.",
    ServerFailure.OVERSIZED: "The reply was too large to store.",
}
_FAILURE_TEXTS = {
    **{failure.value: sentence for failure, sentence in _OF_SERVERS.items()},
    **{failure.value: sentence for failure, sentence in FAILURES.items()},
}


@dataclass(frozen=True)
class WritingPage:
    """`failures` are (sentence, drafts) by kind; `lacking` are incomplete orders."""

    progress: dict[str, Any]
    spec: GenerationSpec
    failures: Sequence[tuple[str, int]]
    lacking: Sequence[Order]
    last: Sequence[Draft]
    is_live: bool
    has_workers: bool

    @property
    def percent(self) -> int:
        planned = self.progress["planned"]
        return 100 * self.progress["done"] // planned if planned else 100


def page_of(run: Writing) -> WritingPage:
    drafts = Draft.objects.filter(order__run=run).exclude(failure="")
    kinds = drafts.values_list("failure").annotate(n=Count("pk")).order_by("-n", "failure")
    newest = Draft.objects.filter(order__run=run).select_related("order__topic", "order__document")
    lacking = run.orders.exclude(failure="").select_related("topic", "document")
    return WritingPage(
        progress=progress_of(run),
        spec=GenerationSpec.from_json(run.selection),
        failures=[(failure_text(failure), n) for failure, n in kinds],
        lacking=list(lacking[:LAST]),
        last=list(newest.order_by("-pk")[:LAST]),
        is_live=run.is_running,
        has_workers=leased(run).exists(),
    )


def failure_text(failure: str) -> str:
    return _FAILURE_TEXTS.get(failure, failure)
