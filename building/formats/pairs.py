"""Pairs of a question and its passage that writers wrote and somebody accepted, as docling-sdg has them."""

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
    """The accepted pairs of a dataset, by the writer of this name or all, in the order of their orders.

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
    for some in batches(ordered.iterator(chunk_size=_AT_ONCE), _AT_ONCE):
        passages = Text.objects.in_bulk([each.draft.order.inputs["passage"] for each in some])
        for product in some:
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
