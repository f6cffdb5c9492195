"""Our own written.jsonl: replies of writers, and what was decided about each thing in them.

A line is a reply, with the order that it answers. Who decided is not told: accounts are no part of a dataset.
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
from annotation.formats.summary import shown
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Document, Text
from building.formats.written_rows import ProductRow, WrittenRow
from building.models import Draft, Order, Product, Writer, Writing
from judging.models.leased import Leased

_BATCH = 200
FROM_FILE = "from_file"  # in the selection of a writing that is told by a file
NOTE = "It was written elsewhere, and came in a file."
WORKER = "a file"
_OF_DRAFT = (
    *("number", "raw", "reasoning", "prompt_hash", "finish_reason", "failure", "detail"),
    *("prompt_tokens", "completion_tokens"),
)
_OF_PRODUCT = ("position", "body", "flags", "statements", "decision", "edited", "unseen")
_ONE_TEXT = ("reference", "passage")
_NUMBERS = (
    "n",
    "have",
    "words",
    "max_tokens",
    "kind",
    "statement",
)  # of inputs: what names nothing

TextKey = tuple[str, str]  # system, name; a passage has no system
Line = tuple[int, WrittenRow]


def read(target: Target, source: Source) -> None:
    """Make what is new. An order that was given here, too, stays with what came here."""
    reader = _Reader(target, source)
    for batch in batches(rows(target, source, WrittenRow), _BATCH):
        reader.batch(batch)


@dataclass(frozen=True)
class _Known:
    """What the dataset holds of what some lines name."""

    dataset: Dataset
    lines: Sequence[Line]

    @cached_property
    def documents(self) -> dict[str, int]:
        names = {row.document for _, row in self.lines}
        names |= {name for _, row in self.lines for name in row.inputs.documents or ()}
        found = Document.objects.filter(dataset=self.dataset, name__in=names - {None})
        return dict(found.values_list("name", "pk"))

    @cached_property
    def texts(self) -> dict[TextKey, int]:
        """Passages and reports; and references, whose names no passage has."""
        keys = [key for _, row in self.lines for key in _texts_of(row)]
        found = Text.objects.filter(
            dataset=self.dataset,
            system__in={system for system, _ in keys},
            name__in={name for _, name in keys},
        )
        return {
            (system, name): pk for system, name, pk in found.values_list("system", "name", "pk")
        }

    @cached_property
    def taken(self) -> set[int]:
        """Texts that are somebody's product."""
        taken = Product.objects.filter(text__in=self.texts.values())
        return set(taken.values_list("text", flat=True))

    @cached_property
    def taken_questions(self) -> set[int]:
        taken = Product.objects.filter(question__topic__dataset=self.dataset)
        return set(taken.values_list("question", flat=True))

    @cached_property
    def orders(self) -> dict[tuple[str, str, str, int], Order]:
        orders = Order.objects.filter(
            topic__dataset=self.dataset, messages_hash__in={row.message for _, row in self.lines}
        ).select_related("writer", "topic", "run")
        return {
            (each.writer.slug, each.topic.name, each.messages_hash, each.sample): each
            for each in orders.prefetch_related("drafts")
        }


def _texts_of(row: WrittenRow) -> Iterator[TextKey]:
    yield from ((each.text.system, each.text.name) for each in row.products if each.text)
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
        known = _Known(self.target.dataset, batch)
        for line, row in batch:
            if wrong := self._wrong(row, known):
                self.target.problem(self.source, line, *wrong)
            elif not self.target.problems:
                self._store(line, row, known)

    def _wrong(self, row: WrittenRow, known: _Known) -> tuple[str, str] | None:
        """The field that is wrong, and why."""
        if row.writer not in self.writers:
            return "writer", f"there is no writer {shown(row.writer)}: it is in writers.jsonl"
        if row.topic not in self.target.topics:
            return "topic", f"topic {shown(row.topic)} is not in the dataset"
        if (row.document is None) is (self.writers[row.writer].task == "passages"):
            return "document", "is what passages are written from, and null for anything else"
        named = [row.document, *(row.inputs.documents or ())]
        if odd := next((name for name in named if name and name not in known.documents), None):
            return "document", f"document {shown(odd)} is not in the dataset"
        if lost := next((key for key in _texts_of(row) if key not in known.texts), None):
            return "text", f"text {shown(lost[1])} is not in the dataset"
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
        asked = [each.position for each in self.target.topics[row.topic].questions]
        if product.question is not None and product.question not in asked:
            return "question", f"{row.topic} has no question {product.question}"
        return None

    def _store(self, line: int, row: WrittenRow, known: _Known) -> None:
        order = known.orders.get(_key(row))
        if order is None:
            known.orders[_key(row)] = order = self._order(row, known)
        elif any(each.counts and each.number == row.draft.number for each in order.drafts.all()):
            self.summary.unchanged += 1
            return
        elif FROM_FILE not in order.run.selection:
            self.target.summary.difference(
                f"{self.source.name}:{line}: {row.writer} was asked for this here, too: what came here stays"
            )
            return
        products = [self._product(line, row, each, known) for each in row.products]
        if self.target.problems:
            return
        draft = Draft.objects.create(order=order, worker=WORKER, **row.draft.model_dump())
        for product in products:
            product.draft = draft
        Product.objects.bulk_create(products)
        self.summary.created += 1
        self.target.summary.created["replies of writers"] += 1

    def _product(self, line: int, row: WrittenRow, product: ProductRow, known: _Known) -> Product:
        text = known.texts[product.text.system, product.text.name] if product.text else None
        question = None
        if product.question is not None:
            asked = self.target.topics[row.topic].questions
            question = next(each.pk for each in asked if each.position == product.question)
        for field, key, taken in (
            ("text", text, known.taken),
            ("question", question, known.taken_questions),
        ):
            if key in taken:
                self.target.problem(self.source, line, field, "is what something else became")
            elif key:
                taken.add(key)
        fields = {name: getattr(product, name) for name in _OF_PRODUCT}
        fields["statements"] = [list(each) for each in product.statements]
        return Product(
            **fields,
            decided=datetime.fromisoformat(product.decided),
            text_id=text,
            question_id=question,
        )

    def _order(self, row: WrittenRow, known: _Known) -> Order:
        writing = self._writing(self.writers[row.writer], row.run)
        inputs: dict[str, Any] = row.inputs.model_dump(exclude_none=True, include=set(_NUMBERS))
        if row.inputs.passages is not None:
            # One that was gone when it was written down has the key of nothing.
            inputs["passages"] = [
                known.texts.get(("", each or ""), 0) for each in row.inputs.passages
            ]
        if row.inputs.documents is not None:
            inputs["documents"] = [
                known.documents.get(each or "", 0) for each in row.inputs.documents
            ]
        if row.inputs.reference:
            inputs["reference"] = known.texts["", row.inputs.reference]
        if row.inputs.passage:
            inputs["passage"] = known.texts["", row.inputs.passage]
        writing.n_planned += 1
        writing.save(update_fields=["n_planned"])
        return Order.objects.create(
            run=writing,
            number=writing.n_planned,
            writer=writing.writer,
            topic_id=self.target.topics[row.topic].pk,
            document_id=known.documents[row.document] if row.document else None,
            inputs=inputs,
            messages_hash=row.message,
            sample=row.sample,
            n_left_out=row.left_out,
            state=Leased.State.DONE,
            tries_left=0,
        )

    def _writing(self, writer: Writer, run: str) -> Writing:
        """That of a file, of this writer and run, made if there is none."""
        if (writer.pk, run) not in self.writings:
            selection = {"run": run, FROM_FILE: True}
            there = Writing.objects.filter(dataset=self.target.dataset, writer=writer)
            self.writings[writer.pk, run] = next(
                (each for each in there if each.selection == selection), None
            ) or Writing.objects.create(
                dataset=self.target.dataset,
                writer=writer,
                selection=selection,
                state=Writing.State.FINISHED,
                note=NOTE,
            )
        return self.writings[writer.pk, run]


def lines(dataset: Dataset, left_out: Counter[str]) -> Iterator[str]:
    """Replies of which something was decided about, by writer, topic and order."""
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
    for some in batches(drafts.iterator(chunk_size=_BATCH), _BATCH):
        names = _Names(some)
        yield from (json_line(_line(draft, names)) for draft in some)


class _Names:
    """Of the texts and documents that some replies were shown."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        inputs = [draft.order.inputs for draft in drafts]
        texts = {pk for each in inputs for pk in each.get("passages", ())}
        texts |= {each[one] for each in inputs for one in _ONE_TEXT if each.get(one)}
        documents = {pk for each in inputs for pk in each.get("documents", ())}
        self.texts = dict(Text.objects.filter(pk__in=texts).values_list("pk", "name"))
        self.documents = dict(Document.objects.filter(pk__in=documents).values_list("pk", "name"))

    def of(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The same inputs with names for keys, null for what is gone."""
        named: dict[str, Any] = {}
        if "passages" in inputs:
            named["passages"] = [self.texts.get(pk) for pk in inputs["passages"]]
        if "documents" in inputs:
            named["documents"] = [self.documents.get(pk) for pk in inputs["documents"]]
        for one in _ONE_TEXT:
            if name := self.texts.get(inputs.get(one, 0)):
                named[one] = name
        return named | {key: inputs[key] for key in _NUMBERS if inputs.get(key) is not None}


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
        "draft": {name: getattr(draft, name) for name in _OF_DRAFT},
        "products": [_product(each) for each in draft.decided_products],  # type: ignore[attr-defined]
    }


def _product(product: Product) -> dict[str, Any]:
    text, question = product.text, product.question
    assert product.decided is not None
    return {
        **{name: getattr(product, name) for name in _OF_PRODUCT},
        "decided": product.decided.isoformat(),
        "text": {"system": text.system, "name": text.name} if text else None,
        "question": question.position if question else None,
    }
