"""Accepted question-answer pairs with their passages, in docling-sdg's format."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.formats.batches import batches
from annotation.formats.qac import qac_line
from annotation.formats.writing import json_line
from annotation.models import Dataset, Text
from building.models import Product
from building.writing.pairs import parts_of

_AT_ONCE = 500


def lines(dataset: Dataset, writer: str = "") -> Iterator[str]:
    """Yield the accepted pairs of a dataset by one writer, or all, in order.

    A document is called by what its passage's name has before the first #, its chunk like the passage.
    """
    accepted = Product.objects.filter(
        draft__counts=True,
        draft__order__run__dataset=dataset,
        draft__order__writer__task="pairs",
        decision__in=[Product.Decision.ACCEPTED, Product.Decision.EDITED],
    )
    if writer:
        accepted = accepted.filter(draft__order__writer__slug=writer)
    ordered = accepted.select_related("draft__order").order_by(
        "draft__order__topic__position", "draft__order", "draft__number", "position"
    )
    for batch in batches(ordered.iterator(chunk_size=_AT_ONCE), _AT_ONCE):
        passages = Text.objects.in_bulk([pair.draft.order.inputs["passage"] for pair in batch])
        for product in batch:
            order = product.draft.order
            if passage := passages.get(order.inputs["passage"]):
                question, answer = parts_of(product.words)
                line = qac_line(
                    (passage.body or "", question, answer),
                    (passage.name.partition("#")[0], passage.name),
                    order.inputs["kind"],
                    critiques={},
                )
                yield json_line(line)
