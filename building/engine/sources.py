"""What an order shows its writer: from keys and numbers to the words of the collection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Dataset, Document, SubQuestion, Text, Topic
from building.engine.wanted import REQUIRED, Wanted, run_of
from building.models import Order, Product
from building.writing.lengths import (
    ESTIMATE,
    Length,
    LengthError,
    fill_context,
    length_of,
    matches,
)
from building.writing.pairs import of_kind, picked
from building.writing.tasks import Source, Task, shown_passages
from evaluation.models import RankedText

MOST_WORDS = 4_000  # of a topic's documents, where it has no summary: those that fit, whole


@dataclass(frozen=True)
class Planned:
    """An order to be: `inputs` are keys and numbers, and `why_not` is set where it cannot be written."""

    topic: Topic
    document: Document | None = None
    inputs: dict[str, Any] = field(default_factory=dict)
    n_left_out: int = 0
    why_not: str = ""


def planned(task: Task, dataset: Dataset, wanted: Wanted) -> Iterator[Planned]:
    """All that a writing could write, one by one, also what it cannot."""
    topics = wanted.topics_of(dataset)
    if task.name in _OF_MANY:
        yield from _OF_MANY[task.name](topics, dataset, wanted)
        return
    for topic in topics:
        if task.name == "request":
            yield _of_summary(topic, {}, "" if not topic.request else "it has a request")
        elif task.name == "questions":
            yield _questions_of(topic, wanted.n or task.n)
        elif task.name == "nuggets" and topic.request:
            yield _questions_of(topic, wanted.n or task.n, "nuggets")
        elif not topic.request:
            yield Planned(topic, why_not="it has no request yet")
        else:
            write = _direct if task.name == "direct" else _report
            try:
                yield write(topic, dataset, wanted)
            except LengthError as error:  # there is nothing that its length could match
                yield Planned(topic, why_not=str(error).removesuffix("."))


def _of_documents(topics: list[Topic], dataset: Dataset, wanted: Wanted) -> Iterator[Planned]:
    """Of many documents: two queries in all, and a few documents in memory."""
    by_key = {topic.pk: topic for topic in topics}
    passages = dataset.texts.filter(document__isnull=False).order_by()
    done = set(passages.values_list("document", flat=True))
    documents = dataset.documents.order_by("topic__position", "pk")
    for document in documents.iterator():
        if topic := by_key.get(document.topic_id):
            why_not = "its passages are there" if document.pk in done else ""
            if not document.body.strip():
                why_not = "its document has no words"
            yield Planned(topic, document, {"n": wanted.n}, why_not=why_not)


def _of_passages(topics: list[Topic], dataset: Dataset, wanted: Wanted) -> Iterator[Planned]:
    for topic, text, why_not in _passages(topics, dataset):
        yield Planned(topic, None, {"passage": text.pk}, why_not=why_not)


def of_no_topic(dataset: Dataset) -> int:
    """The passages with words that nothing can be written about: an order is of a topic."""
    return dataset.texts.filter(kind=Text.Kind.PASSAGE, topic=None).with_body().count()


def _passages(topics: list[Topic], dataset: Dataset) -> Iterator[tuple[Topic, Text, str]]:
    """The passages of topics, and why one cannot be written about: one query, and a few in memory."""
    by_key = {topic.pk: topic for topic in topics}
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE, topic__isnull=False).with_body()
    for text in passages.order_by("topic__position", "pk").iterator(chunk_size=500):
        if topic := by_key.get(text.topic_id or 0):
            why_not = "" if (text.body or "").strip() else "its passage has no words"
            yield topic, text, why_not


def _of_types(topics: list[Topic], dataset: Dataset, wanted: Wanted) -> Iterator[Planned]:
    """A question of each type on each passage, or from one of its statements of that type."""
    stated = _statements(dataset, wanted.statements) if wanted.statements else {}
    for topic, text, why_not in _passages(topics, dataset):
        for kind in wanted.types:
            inputs, lacks = {"passage": text.pk, "kind": kind}, ""
            if wanted.statements and (found := of_kind(stated.get(text.pk, ()), kind)):
                inputs["statement"] = picked(found, f"{text.sha256}{kind}")
            elif wanted.statements:
                lacks = f"no statement of its passage is for a {kind} question"
            yield Planned(topic, None, inputs, why_not=why_not or lacks)


def _statements(dataset: Dataset, writer: str) -> Mapping[int, Sequence[str]]:
    """What a writer noted of each passage, by its key, without what somebody rejected."""
    products = Product.objects.filter(
        draft__counts=True, draft__order__run__dataset=dataset, draft__order__writer__slug=writer
    ).exclude(decision=Product.Decision.REJECTED)
    found: dict[int, list[str]] = defaultdict(list)
    ordered = products.order_by("draft__order", "draft__number", "position")
    for product in ordered.select_related("draft__order"):
        found[product.draft.order.inputs["passage"]].append(product.words)
    return found


_OF_MANY = {"passages": _of_documents, "statements": _of_passages, "pairs": _of_types}


def _questions_of(topic: Topic, n: int, called: str = "questions") -> Planned:
    asked = topic.questions.exclude(body="").exclude(filtered_because=SubQuestion.WHOLE)
    have = list(asked.values_list("body", flat=True))
    why_not = f"it has {len(have)} {called}" if len(have) >= n else ""
    return _of_summary(topic, {"n": max(0, n - len(have)), "have": have}, why_not)


def _of_summary(topic: Topic, inputs: dict[str, Any], why_not: str) -> Planned:
    """From the reference summary, or the documents where there is none."""
    reference = _reference(topic)
    if reference:
        return Planned(topic, None, {**inputs, "reference": reference.pk}, why_not=why_not)
    bodies = topic.documents.order_by("pk").values_list("pk", "body")
    documents = [pk for pk, body in bodies if body.strip()]
    if not documents:
        return Planned(
            topic, why_not="it has neither a reference summary nor a document with words"
        )
    return Planned(topic, None, {**inputs, "documents": documents}, why_not=why_not)


def _reference(topic: Topic) -> Text | None:
    references = topic.texts.filter(kind=Text.Kind.REFERENCE).with_body().order_by("pk")
    return next((text for text in references if (text.body or "").strip()), None)


def _direct(topic: Topic, dataset: Dataset, wanted: Wanted) -> Planned:
    return Planned(topic, None, _length(topic, dataset, wanted))


def _report(topic: Topic, dataset: Dataset, wanted: Wanted) -> Planned:
    ranked = _ranking(topic, dataset, wanted.run)
    k = int(wanted.k) if wanted.k.isdecimal() else len(ranked)
    if wanted.k == REQUIRED:
        k = len(_ranking(topic, dataset, wanted.required))
    shown = shown_passages([(text.name, text.body or "") for text in ranked[:k]])
    fit = fill_context(shown, tokens=wanted.context_tokens)
    if not fit:
        return Planned(topic, why_not=f"no passage of {wanted.run} fits its context")
    inputs = {
        "passages": [text.pk for text in ranked[:fit]],
        **_length(topic, dataset, wanted),
    }
    return Planned(topic, None, inputs, n_left_out=len(shown) - fit)


def _ranking(topic: Topic, dataset: Dataset, name: str) -> list[Text]:
    """The texts of a run's ranking whose words we have, best first."""
    ranked = RankedText.objects.filter(
        run=run_of(dataset, name), topic=topic, text__body__isnull=False
    )
    return [row.text for row in ranked.select_related("text").order_by("rank")]


def _length(topic: Topic, dataset: Dataset, wanted: Wanted) -> dict[str, int]:
    if not wanted.length:
        return {}
    taken_from = matches(wanted.length)
    texts: Sequence[Text] = ()
    if taken_from == REQUIRED:
        texts = _ranking(topic, dataset, wanted.required)
    elif taken_from:
        texts = [text for text in [_reference(topic)] if text]
    length: Length = length_of(wanted.length, [text.body or "" for text in texts], ESTIMATE)
    return {"words": length.words, "max_tokens": length.max_tokens}


def source_of(
    topic: Topic,
    document: Document | None,
    inputs: dict[str, Any],
    brought: Sequence[str] = (),
    missing: int = 0,
) -> Source:
    """The words that an order shows. `brought` is what its drafts did, `missing` what is still to come."""
    passages = inputs.get("passages", [])
    by_key = Text.objects.in_bulk(passages) if passages else {}
    return Source(
        request=topic.request,
        document=_document(document, inputs),
        passages=tuple((by_key[pk].name, by_key[pk].body or "") for pk in passages if pk in by_key),
        have=(*inputs.get("have", ()), *brought),
        n=missing or inputs.get("n", 0),
        words=inputs.get("words", 0),
        kind=inputs.get("kind", ""),
        statement=inputs.get("statement", ""),
    )


def _document(document: Document | None, inputs: dict[str, Any]) -> str:
    if document:
        return document.body
    if text := inputs.get("reference") or inputs.get("passage"):
        return Text.objects.get(pk=text).body or ""
    keys = inputs.get("documents", [])
    bodies = Document.objects.filter(pk__in=keys).order_by("pk").values_list("body", flat=True)
    shown: list[str] = []
    n_words = 0
    for body in bodies:
        n_words += len(body.split())
        if shown and n_words > MOST_WORDS:
            break
        shown.append(body)
    return "\n\n".join(shown)


def brought_by(order: Order) -> list[str]:
    """The questions that earlier drafts of an order brought, when the rest is asked for."""
    products = Product.objects.filter(draft__order=order).order_by("draft__number", "position")
    return list(products.values_list("body", flat=True)) if order.missing else []
