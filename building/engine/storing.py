"""Store drafts exactly once, with their outputs for review."""

from __future__ import annotations

from django.db import transaction

from building.models import Draft, Order, Product
from building.writers.base import Outcome
from building.writing.outputs import Failure, ParsedReply
from judging.engine.charges import charge_run
from judging.execution.models import Leased


@transaction.atomic
def store(outcome: Outcome, worker: str) -> Draft | None:
    """Store a reply with its outputs; reopen the order if a retry may bring the rest.

    Where it was lent to another worker meanwhile, whose reply came first, this one is kept and paid for, and
    changes nothing. Returns None for an order that is gone.
    """
    ask = outcome.ask
    orders = Order.objects.select_for_update(of=("self",)).select_related("run")
    order = orders.filter(pk=ask.order).first()
    if order is None:
        return None
    counts = not order.drafts.filter(number=ask.number, counts=True).exists()
    written = None
    if outcome.failure in ("", Failure.REFUSED):
        # A refusal is retried once, whether the server's field or the text says so.
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
    charge_run(order.run, outcome.prompt_tokens, outcome.completion_tokens)
    if counts:
        is_retried = _settle(order, draft, written, worker)
        # If all items are asked for again, storing these would duplicate them.
        if ask.task.shows_existing or not is_retried:
            _propose(draft, written)
    return draft


def _propose(draft: Draft, written: ParsedReply | None) -> None:
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


def _settle(order: Order, draft: Draft, written: ParsedReply | None, worker: str) -> bool:
    """Update the order; return whether it is retried. Server errors are left to a person."""
    order.failure = draft.failure
    order.missing = written.missing if written else order.missing
    order.tries_left = max(0, order.tries_left - 1)
    is_retried = written is not None and bool(draft.failure) and order.tries_left > 0
    order.state = Leased.State.OPEN if is_retried else Leased.State.DONE
    order.owner, order.expires = "" if is_retried else worker, None
    order.save(update_fields=["failure", "missing", "tries_left", "state", "owner", "expires"])
    return is_retried
