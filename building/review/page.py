"""An order beside what was written for it: the source with the words that each product rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from building.engine.sources import source_of
from building.models import Draft, Order, Product
from building.writing.citations import place_of
from building.writing.resting import cut, rests_on

Pieces = list[tuple[str, bool]]


@dataclass(frozen=True)
class Shown:
    """A product, and the source as it is marked for it, where that is one text."""

    product: Product
    source: Pieces
    statements: Sequence[Statement] = ()


@dataclass(frozen=True)
class Statement:
    """A sentence of a report with what it cites: (label as written, place in the context from 1, or None)."""

    words: str
    cited: Sequence[tuple[str, int | None]]


@dataclass(frozen=True)
class ReviewPage:
    order: Order
    request: str
    shown: Sequence[Shown]
    context: Sequence[tuple[int, str, str]]
    """Place from 1, name and words of each passage of a report's context."""
    drafts: Sequence[Draft]
    n_open: int
    previous: int | None
    following: int | None
    """Numbers of the orders beside it, of those with something written."""


def page_of(order: Order) -> ReviewPage:
    source = source_of(order.topic, order.document, order.inputs)
    products = list(
        Product.objects.filter(draft__order=order)
        .select_related("draft", "decided_by")
        .order_by("draft__number", "position")
    )
    names = [name for name, _ in source.passages]
    shown = [
        Shown(
            product,
            cut(source.document, rests_on(source.document, product.body)),
            _statements(product, names),
        )
        for product in products
    ]
    written = order.run.orders.filter(drafts__products__isnull=False).order_by("number")
    numbers = list(dict.fromkeys(written.values_list("number", flat=True)))
    return ReviewPage(
        order=order,
        request=source.request,
        shown=shown,
        context=[(place, name, body) for place, (name, body) in enumerate(source.passages, 1)],
        drafts=list(order.drafts.all()),
        n_open=sum(product.is_open for product in products),
        previous=max((n for n in numbers if n < order.number), default=None),
        following=min((n for n in numbers if n > order.number), default=None),
    )


def _statements(product: Product, names: Sequence[str]) -> list[Statement]:
    return [
        Statement(product.body[start:end], [(label, _from_1(label, names)) for label in labels])
        for start, end, labels in product.statements
    ]


def _from_1(label: str, names: Sequence[str]) -> int | None:
    place = place_of(label, names)
    return None if place is None else place + 1


def next_open(order: Order) -> int | None:
    """The number of the next order, after this one and round again, that has something to decide."""
    waits = order.run.orders.filter(drafts__products__decision=Product.Decision.PROPOSED)
    numbers = sorted(set(waits.values_list("number", flat=True)))
    later = [number for number in numbers if number >= order.number]
    return next(iter(later or numbers), None)
