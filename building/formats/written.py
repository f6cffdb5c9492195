"""Our written.jsonl: replies of writers with the decisions on their outputs.

A line is a reply, with the order that it answers. The reviewers are not exported: accounts are no part of
a dataset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Document, Text
from building.formats.written_rows import ProductRow, WrittenRow
from building.models import Draft, Order, Product, Writer, Writing
from judging.execution.models import Leased

_BATCH = 200
FROM_FILE = "from_file"  # marks the selection of an imported run
NOTE = "It was written elsewhere, and came in a file."
WORKER = "a file"
_DRAFT_FIELDS = (
    *("number", "raw", "reasoning", "prompt_hash", "finish_reason", "failure", "detail"),
    *("prompt_tokens", "completion_tokens"),
)
_PRODUCT_FIELDS = ("position", "body", "flags", "statements", "decision", "edited", "unseen")
_TEXT_INPUTS = ("reference", "passage")
_PLAIN_INPUTS = (
    "n",
    "have",
    "words",
    "max_tokens",
    "kind",
    "statement",
)  # inputs that refer to no object

TextKey = tuple[str, str]  # system, name; a passage has no system
Line = tuple[int, WrittenRow]


def read(target: Target, source: Source) -> None:
    """Import new replies. For an order that also exists here, the imported ones are skipped."""
    reader = _Reader(target, source)
    for batch in batches(rows(target, source, WrittenRow), _BATCH):
        reader.batch(batch)


@dataclass(frozen=True)
class _Lookup:
    """Dataset objects that a batch of lines refers to, loaded in bulk."""

    dataset: Dataset
    lines: Sequence[Line]

    @cached_property
    def documents(self) -> dict[str, int]:
        names = {row.document for _, row in self.lines}
        names |= {name for _, row in self.lines for name in row.inputs.documents or ()}
        documents = Document.objects.filter(dataset=self.dataset, name__in=names - {None})
        return dict(documents.values_list("name", "pk"))

    @cached_property
    def texts(self) -> dict[TextKey, int]:
        """Return passages, reports and references by (system, name)."""
        keys = [key for _, row in self.lines for key in _texts_of(row)]
        texts = Text.objects.filter(
            dataset=self.dataset,
            system__in={system for system, _ in keys},
            name__in={name for _, name in keys},
        )
        return {
            (system, name): pk for system, name, pk in texts.values_list("system", "name", "pk")
        }

    @cached_property
    def text_ids_in_use(self) -> set[int]:
        """Return the texts that already belong to an output."""
        products = Product.objects.filter(text__in=self.texts.values())
        return set(products.values_list("text", flat=True))

    @cached_property
    def question_ids_in_use(self) -> set[int]:
        products = Product.objects.filter(question__topic__dataset=self.dataset)
        return set(products.values_list("question", flat=True))

    @cached_property
    def orders(self) -> dict[tuple[str, str, str, int], Order]:
        orders = Order.objects.filter(
            topic__dataset=self.dataset, messages_hash__in={row.message for _, row in self.lines}
        ).select_related("writer", "topic", "run")
        return {
            (order.writer.slug, order.topic.name, order.messages_hash, order.sample): order
            for order in orders.prefetch_related("drafts")
        }


def _texts_of(row: WrittenRow) -> Iterator[TextKey]:
    yield from (
        (product.text.system, product.text.name) for product in row.products if product.text
    )
    yield from (("", name) for name in row.inputs.passages or () if name)
    yield from (("", name) for name in (row.inputs.reference, row.inputs.passage) if name)


def _key(row: WrittenRow) -> tuple[str, str, str, int]:
    return row.writer, row.topic, row.message, row.sample


class _Reader:
    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.summary = target.summary.file(source.name)
        self.writers = {writer.slug: writer for writer in Writer.objects.all()}
        self.writings: dict[tuple[int, str], Writing] = {}

    def batch(self, batch: Sequence[Line]) -> None:
        lookup = _Lookup(self.target.dataset, batch)
        for line, row in batch:
            if wrong := self._wrong(row, lookup):
                self.target.problem(self.source, line, *wrong)
            elif not self.target.problems:
                self._store(line, row, lookup)

    def _wrong(self, row: WrittenRow, lookup: _Lookup) -> tuple[str, str] | None:
        """Return the wrong field and the reason, or None."""
        if row.writer not in self.writers:
            return (
                "writer",
                f"there is no writer {quoted_value(row.writer)}: it is in writers.jsonl",
            )
        if row.topic not in self.target.topics:
            return "topic", f"topic {quoted_value(row.topic)} is not in the dataset"
        if (row.document is None) is (self.writers[row.writer].task == "passages"):
            return "document", "is what passages are written from, and null for anything else"
        document_names = [row.document, *(row.inputs.documents or ())]
        if unknown := next(
            (name for name in document_names if name and name not in lookup.documents), None
        ):
            return "document", f"document {quoted_value(unknown)} is not in the dataset"
        if missing := next((key for key in _texts_of(row) if key not in lookup.texts), None):
            return "text", f"text {quoted_value(missing[1])} is not in the dataset"
        if len({product.position for product in row.products}) < len(row.products):
            return "products", "two have one position"
        for product in row.products:
            if wrong := self._wrong_product(row, product):
                return wrong
        return None

    def _wrong_product(self, row: WrittenRow, product: ProductRow) -> tuple[str, str] | None:
        decided = [choice for choice in Product.Decision.values if choice != "proposed"]
        if product.decision not in decided:
            return "decision", f"is none of {', '.join(decided)}"
        if (product.decision == "edited") is not bool(product.edited):
            return "edited", "holds the words of what was edited, and of nothing else"
        n = len(product.body)
        if any(not start < end <= n for start, end, _ in product.statements):
            return "statements", f"are parts of a body of {n} signs"
        positions = [question.position for question in self.target.topics[row.topic].questions]
        if product.question is not None and product.question not in positions:
            return "question", f"{row.topic} has no question {product.question}"
        return None

    def _store(self, line: int, row: WrittenRow, lookup: _Lookup) -> None:
        order = lookup.orders.get(_key(row))
        if order is None:
            lookup.orders[_key(row)] = order = self._order(row, lookup)
        elif any(entry.counts and entry.number == row.draft.number for entry in order.drafts.all()):
            self.summary.unchanged += 1
            return
        elif FROM_FILE not in order.run.selection:
            self.target.summary.difference(
                f"{self.source.name}:{line}: {row.writer} was asked for this here, too: what came here stays"
            )
            return
        products = [self._product(line, row, entry, lookup) for entry in row.products]
        if self.target.problems:
            return
        draft = Draft.objects.create(order=order, worker=WORKER, **row.draft.model_dump())
        for product in products:
            product.draft = draft
        Product.objects.bulk_create(products)
        self.summary.created += 1
        self.target.summary.created["replies of writers"] += 1

    def _product(self, line: int, row: WrittenRow, product: ProductRow, lookup: _Lookup) -> Product:
        text = lookup.texts[product.text.system, product.text.name] if product.text else None
        question = None
        if product.question is not None:
            questions = self.target.topics[row.topic].questions
            question = next(entry.pk for entry in questions if entry.position == product.question)
        for field, key, in_use in (
            ("text", text, lookup.text_ids_in_use),
            ("question", question, lookup.question_ids_in_use),
        ):
            if key in in_use:
                self.target.problem(self.source, line, field, "is what something else became")
            elif key:
                in_use.add(key)
        fields = {name: getattr(product, name) for name in _PRODUCT_FIELDS}
        fields["statements"] = [list(entry) for entry in product.statements]
        return Product(
            **fields,
            decided=datetime.fromisoformat(product.decided),
            text_id=text,
            question_id=question,
        )

    def _order(self, row: WrittenRow, lookup: _Lookup) -> Order:
        writing = self._writing(self.writers[row.writer], row.run)
        inputs: dict[str, Any] = row.inputs.model_dump(
            exclude_none=True, include=set(_PLAIN_INPUTS)
        )
        if row.inputs.passages is not None:
            # A passage that was deleted before the export gets the key 0.
            inputs["passages"] = [
                lookup.texts.get(("", name or ""), 0) for name in row.inputs.passages
            ]
        if row.inputs.documents is not None:
            inputs["documents"] = [
                lookup.documents.get(name or "", 0) for name in row.inputs.documents
            ]
        if row.inputs.reference:
            inputs["reference"] = lookup.texts["", row.inputs.reference]
        if row.inputs.passage:
            inputs["passage"] = lookup.texts["", row.inputs.passage]
        writing.n_planned += 1
        writing.save(update_fields=["n_planned"])
        return Order.objects.create(
            run=writing,
            number=writing.n_planned,
            writer=writing.writer,
            topic_id=self.target.topics[row.topic].pk,
            document_id=lookup.documents[row.document] if row.document else None,
            inputs=inputs,
            messages_hash=row.message,
            sample=row.sample,
            n_left_out=row.left_out,
            state=Leased.State.DONE,
            tries_left=0,
        )

    def _writing(self, writer: Writer, run: str) -> Writing:
        """Return the imported generation run of this writer and run; create it if needed."""
        if (writer.pk, run) not in self.writings:
            selection = {"run": run, FROM_FILE: True}
            writings = Writing.objects.filter(dataset=self.target.dataset, writer=writer)
            self.writings[writer.pk, run] = next(
                (writing for writing in writings if writing.selection == selection), None
            ) or Writing.objects.create(
                dataset=self.target.dataset,
                writer=writer,
                selection=selection,
                state=Writing.State.FINISHED,
                note=NOTE,
            )
        return self.writings[writer.pk, run]


def lines(dataset: Dataset, left_out: Counter[str]) -> Iterator[str]:
    """Yield replies with reviewed outputs, by writer, topic and order."""
    products = Product.objects.filter(draft__order__topic__dataset=dataset)
    if n := products.filter(decided=None).count():
        left_out["things written that nobody has decided about"] += n
    decided = Product.objects.filter(decided__isnull=False)
    with_texts = decided.order_by("position").select_related("text", "question")
    drafts = (
        Draft.objects.filter(
            Exists(decided.filter(draft=OuterRef("pk"))), order__topic__dataset=dataset, counts=True
        )
        .select_related("order__run", "order__writer", "order__topic", "order__document")
        .prefetch_related(Prefetch("products", with_texts, "decided_products"))
        .order_by(
            by_code_point("order__writer__slug"),
            "order__topic__position",
            by_code_point("order__topic__name"),
            by_code_point("order__document__name"),
            by_code_point("order__messages_hash"),
            "order__sample",
            "number",
        )
    )
    for batch in batches(drafts.iterator(chunk_size=_BATCH), _BATCH):
        names = _Names(batch)
        yield from (json_line(_line(draft, names)) for draft in batch)


class _Names:
    """Names of the texts and documents that some replies were shown."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        inputs = [draft.order.inputs for draft in drafts]
        texts = {pk for entry in inputs for pk in entry.get("passages", ())}
        texts |= {entry[field] for entry in inputs for field in _TEXT_INPUTS if entry.get(field)}
        documents = {pk for entry in inputs for pk in entry.get("documents", ())}
        self.texts = dict(Text.objects.filter(pk__in=texts).values_list("pk", "name"))
        self.documents = dict(Document.objects.filter(pk__in=documents).values_list("pk", "name"))

    def of(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Replace keys in the inputs by names, null for deleted objects."""
        result: dict[str, Any] = {}
        if "passages" in inputs:
            result["passages"] = [self.texts.get(pk) for pk in inputs["passages"]]
        if "documents" in inputs:
            result["documents"] = [self.documents.get(pk) for pk in inputs["documents"]]
        for field in _TEXT_INPUTS:
            if name := self.texts.get(inputs.get(field, 0)):
                result[field] = name
        return result | {key: inputs[key] for key in _PLAIN_INPUTS if inputs.get(key) is not None}


def _line(draft: Draft, names: _Names) -> dict[str, Any]:
    order = draft.order
    return {
        "writer": order.writer.slug,
        "topic": order.topic.name,
        "document": order.document.name if order.document else None,
        "run": order.run.selection.get("run", ""),
        "message": order.messages_hash,
        "sample": order.sample,
        "left_out": order.n_left_out,
        "inputs": names.of(order.inputs),
        "draft": {name: getattr(draft, name) for name in _DRAFT_FIELDS},
        "products": [_product(product) for product in draft.decided_products],  # type: ignore[attr-defined]
    }


def _product(product: Product) -> dict[str, Any]:
    text, question = product.text, product.question
    assert product.decided is not None
    return {
        **{name: getattr(product, name) for name in _PRODUCT_FIELDS},
        "decided": product.decided.isoformat(),
        "text": {"system": text.system, "name": text.name} if text else None,
        "question": question.position if question else None,
    }
