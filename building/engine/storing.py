"""Writing drafts: every one once, and what is in it as products that somebody decides about."""

from __future__ import annotations

from django.db import transaction

from building.models import Draft, Order, Product
from building.writers.base import Outcome
from building.writing.products import Failure, Written
from judging.models.leased import Leased


@transaction.atomic
def store(outcome: Outcome, worker: str) -> Draft | None:
    """Store a reply with its products. The order is asked again where that may bring the rest.

    Where it was lent to another worker meanwhile, whose reply came first, this one is kept and paid for, and
    changes nothing. Returns None for an order that is gone.
    """
    ask = outcome.ask
    order = Order.objects.select_for_update().filter(pk=ask.order).first()
    if order is None:
        return None
    counts = not order.drafts.filter(number=ask.number, counts=True).exists()
    written = None
    if outcome.failure in ("", Failure.REFUSED):
        # Refused in a field of the server's own or in words, it is asked once more all the same.
        reason = "content_filter" if outcome.failure else outcome.finish_reason
        written = ask.task.read(outcome.raw, reason, ask.source)
    draft = Draft.objects.create(
        order=order,
        number=ask.number,
        counts=counts,
        worker=worker,
        raw=outcome.raw,
        reasoning=outcome.reasoning,
        finish_reason=outcome.finish_reason,
        prompt_hash=outcome.prompt_hash,
        failure=outcome.failure or (written.failure or "" if written else ""),
        detail=(outcome.detail or (written.detail if written else ""))[:500],
        prompt_tokens=outcome.prompt_tokens,
        completion_tokens=outcome.completion_tokens,
    )
    if counts:
        is_asked_again = _settle(order, draft, written, worker)
        # What is asked for anew, and not for the rest, would come twice.
        if ask.task.shows_have or not is_asked_again:
            _propose(draft, written)
    return draft


def _propose(draft: Draft, written: Written | None) -> None:
    Product.objects.bulk_create(
        Product(
            draft=draft,
            position=position,
            body=product.body,
            flags=list(product.flags),
            statements=[[s.start, s.end, list(s.labels)] for s in product.citations],
        )
        for position, product in enumerate(written.products if written else ())
    )


def _settle(order: Order, draft: Draft, written: Written | None, worker: str) -> bool:
    """Whether the order is asked again. What a server failed at would fail again: that is left to a person."""
    order.failure = draft.failure
    order.missing = written.missing if written else order.missing
    order.tries_left = max(0, order.tries_left - 1)
    again = written is not None and bool(draft.failure) and order.tries_left > 0
    order.state = Leased.State.OPEN if again else Leased.State.DONE
    order.owner, order.expires = "" if again else worker, None
    order.save(update_fields=["failure", "missing", "tries_left", "state", "owner", "expires"])
    return again
