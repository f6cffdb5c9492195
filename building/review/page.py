"""Review page of an order: its source with the sentences that support each output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from building.engine.sources import source_of
from building.models import Draft, Order, Product
from building.writing.citations import passage_index
from building.writing.support_spans import cut, support_spans

Pieces = list[tuple[str, bool]]


@dataclass(frozen=True)
class OutputView:
    """An output with its marked source, where the source is one text."""

    product: Product
    source: Pieces
    statements: Sequence[Statement] = ()


@dataclass(frozen=True)
class Statement:
    """A report sentence with its citations: (label, place in the context from 1, or None)."""

    words: str
    cited: Sequence[tuple[str, int | None]]


@dataclass(frozen=True)
class ReviewPage:
    order: Order
    request: str
    outputs: Sequence[OutputView]
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
    views = [
        OutputView(
            product,
            cut(source.document, support_spans(source.document, product.body)),
            _statements(product, names),
        )
        for product in products
    ]
    written = order.run.orders.filter(drafts__products__isnull=False).order_by("number")
    numbers = list(dict.fromkeys(written.values_list("number", flat=True)))
    return ReviewPage(
        order=order,
        request=source.request,
        outputs=views,
        context=[(number, name, body) for number, (name, body) in enumerate(source.passages, 1)],
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
    index = passage_index(label, names)
    return None if index is None else index + 1


def next_open(order: Order) -> int | None:
    """Return the number of the next order with an open output, wrapping around."""
    open_orders = order.run.orders.filter(drafts__products__decision=Product.Decision.PROPOSED)
    numbers = sorted(set(open_orders.values_list("number", flat=True)))
    later = [number for number in numbers if number >= order.number]
    return next(iter(later or numbers), None)
