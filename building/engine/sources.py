"""Inputs of generation orders, and the texts that they show the writer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Dataset, Document, SubQuestion, Text, Topic
from building.engine.generation_spec import REQUIRED, GenerationSpec, run_of
from building.models import Order, Product
from building.writing.lengths import (
    ESTIMATE,
    Length,
    LengthError,
    fill_context,
    length_of,
    matches,
)
from building.writing.pairs import of_kind, pick_statement
from building.writing.tasks import Source, Task, shown_passages
from evaluation.models import RankedText

MAX_WORDS = 4_000  # of a topic's documents without a summary; only complete documents are included


@dataclass(frozen=True)
class Planned:
    """A planned order: inputs as keys and numbers, and the reason to skip it, if any."""

    topic: Topic
    document: Document | None = None
    inputs: dict[str, Any] = field(default_factory=dict)
    n_left_out: int = 0
    why_not: str = ""


def planned_orders(task: Task, dataset: Dataset, spec: GenerationSpec) -> Iterator[Planned]:
    """Yield every candidate order of a generation run, also those that cannot be written."""
    topics = spec.topics_of(dataset)
    if task.name in _BULK_PLANNERS:
        yield from _BULK_PLANNERS[task.name](topics, dataset, spec)
        return
    for topic in topics:
        if task.name == "request":
            yield _plan_from_summary(topic, {}, "" if not topic.request else "it has a request")
        elif task.name == "questions":
            yield _plan_questions(topic, spec.n or task.n)
        elif task.name == "nuggets" and topic.request:
            yield _plan_questions(topic, spec.n or task.n, "nuggets")
        elif not topic.request:
            yield Planned(topic, why_not="it has no request yet")
        else:
            write = _plan_direct if task.name == "direct" else _plan_report
            try:
                yield write(topic, dataset, spec)
            except LengthError as error:  # no text that the length could match
                yield Planned(topic, why_not=str(error).removesuffix("."))


def _plan_documents(
    topics: list[Topic], dataset: Dataset, spec: GenerationSpec
) -> Iterator[Planned]:
    """Plan passages from documents, with two queries and few documents in memory."""
    by_key = {topic.pk: topic for topic in topics}
    passages = dataset.texts.filter(document__isnull=False).order_by()
    done = set(passages.values_list("document", flat=True))
    documents = dataset.documents.order_by("topic__position", "pk")
    for document in documents.iterator():
        if topic := by_key.get(document.topic_id):
            skip_reason = "its passages are there" if document.pk in done else ""
            if not document.body.strip():
                skip_reason = "its document has no words"
            yield Planned(topic, document, {"n": spec.n}, why_not=skip_reason)


def _plan_passages(
    topics: list[Topic], dataset: Dataset, spec: GenerationSpec
) -> Iterator[Planned]:
    for topic, text, skip_reason in _passages(topics, dataset):
        yield Planned(topic, None, {"passage": text.pk}, why_not=skip_reason)


def of_no_topic(dataset: Dataset) -> int:
    """Count the passages without a topic; an order needs one."""
    return dataset.texts.filter(kind=Text.Kind.PASSAGE, topic=None).with_body().count()


def _passages(topics: list[Topic], dataset: Dataset) -> Iterator[tuple[Topic, Text, str]]:
    """Yield the passages of topics with the reason to skip them, from one streamed query."""
    by_key = {topic.pk: topic for topic in topics}
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE, topic__isnull=False).with_body()
    for text in passages.order_by("topic__position", "pk").iterator(chunk_size=500):
        if topic := by_key.get(text.topic_id or 0):
            skip_reason = "" if (text.body or "").strip() else "its passage has no words"
            yield topic, text, skip_reason


def _plan_types(topics: list[Topic], dataset: Dataset, spec: GenerationSpec) -> Iterator[Planned]:
    """Plan a question of each type per passage, or from one of its statements of that type."""
    statements = _statements(dataset, spec.statements) if spec.statements else {}
    for topic, text, skip_reason in _passages(topics, dataset):
        for kind in spec.types:
            inputs, lacks = {"passage": text.pk, "kind": kind}, ""
            if spec.statements and (candidates := of_kind(statements.get(text.pk, ()), kind)):
                inputs["statement"] = pick_statement(candidates, f"{text.sha256}{kind}")
            elif spec.statements:
                lacks = f"no statement of its passage is for a {kind} question"
            yield Planned(topic, None, inputs, why_not=skip_reason or lacks)


def _statements(dataset: Dataset, writer: str) -> Mapping[int, Sequence[str]]:
    """Return the statements of a writer by passage key, without rejected ones."""
    products = Product.objects.filter(
        draft__counts=True, draft__order__run__dataset=dataset, draft__order__writer__slug=writer
    ).exclude(decision=Product.Decision.REJECTED)
    statements: dict[int, list[str]] = defaultdict(list)
    ordered = products.order_by("draft__order", "draft__number", "position")
    for product in ordered.select_related("draft__order"):
        statements[product.draft.order.inputs["passage"]].append(product.words)
    return statements


_BULK_PLANNERS = {"passages": _plan_documents, "statements": _plan_passages, "pairs": _plan_types}


def _plan_questions(topic: Topic, n: int, noun: str = "questions") -> Planned:
    questions = topic.questions.exclude(body="").exclude(filtered_because=SubQuestion.WHOLE)
    have = list(questions.values_list("body", flat=True))
    skip_reason = f"it has {len(have)} {noun}" if len(have) >= n else ""
    return _plan_from_summary(topic, {"n": max(0, n - len(have)), "have": have}, skip_reason)


def _plan_from_summary(topic: Topic, inputs: dict[str, Any], skip_reason: str) -> Planned:
    """Plan from the reference summary, or from the documents where there is none."""
    reference = _reference(topic)
    if reference:
        return Planned(topic, None, {**inputs, "reference": reference.pk}, why_not=skip_reason)
    bodies = topic.documents.order_by("pk").values_list("pk", "body")
    documents = [pk for pk, body in bodies if body.strip()]
    if not documents:
        return Planned(
            topic, why_not="it has neither a reference summary nor a document with words"
        )
    return Planned(topic, None, {**inputs, "documents": documents}, why_not=skip_reason)


def _reference(topic: Topic) -> Text | None:
    references = topic.texts.filter(kind=Text.Kind.REFERENCE).with_body().order_by("pk")
    return next((text for text in references if (text.body or "").strip()), None)


def _plan_direct(topic: Topic, dataset: Dataset, spec: GenerationSpec) -> Planned:
    return Planned(topic, None, _length_inputs(topic, dataset, spec))


def _plan_report(topic: Topic, dataset: Dataset, spec: GenerationSpec) -> Planned:
    ranked = _ranking(topic, dataset, spec.run)
    k = int(spec.k) if spec.k.isdecimal() else len(ranked)
    if spec.k == REQUIRED:
        k = len(_ranking(topic, dataset, spec.required))
    passages = shown_passages([(text.name, text.body or "") for text in ranked[:k]])
    fit = fill_context(passages, tokens=spec.context_tokens)
    if not fit:
        return Planned(topic, why_not=f"no passage of {spec.run} fits its context")
    inputs = {
        "passages": [text.pk for text in ranked[:fit]],
        **_length_inputs(topic, dataset, spec),
    }
    return Planned(topic, None, inputs, n_left_out=len(passages) - fit)


def _ranking(topic: Topic, dataset: Dataset, name: str) -> list[Text]:
    """Return the texts of a run's ranking that have a body, best first."""
    ranked = RankedText.objects.filter(
        run=run_of(dataset, name), topic=topic, text__body__isnull=False
    )
    return [row.text for row in ranked.select_related("text").order_by("rank")]


def _length_inputs(topic: Topic, dataset: Dataset, spec: GenerationSpec) -> dict[str, int]:
    if not spec.length:
        return {}
    length_source = matches(spec.length)
    texts: Sequence[Text] = ()
    if length_source == REQUIRED:
        texts = _ranking(topic, dataset, spec.required)
    elif length_source:
        texts = [text for text in [_reference(topic)] if text]
    length: Length = length_of(spec.length, [text.body or "" for text in texts], ESTIMATE)
    return {"words": length.words, "max_tokens": length.max_tokens}


def source_of(
    topic: Topic,
    document: Document | None,
    inputs: dict[str, Any],
    brought: Sequence[str] = (),
    missing: int = 0,
) -> Source:
    """Build the source that an order shows.

    `brought` are the questions of its earlier drafts, `missing` the number still to write.
    """
    passages = inputs.get("passages", [])
    by_key = Text.objects.in_bulk(passages) if passages else {}
    return Source(
        request=topic.request,
        document=_document(document, inputs),
        passages=tuple((by_key[pk].name, by_key[pk].body or "") for pk in passages if pk in by_key),
        existing=(*inputs.get("have", ()), *brought),
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
    parts: list[str] = []
    n_words = 0
    for body in bodies:
        n_words += len(body.split())
        if parts and n_words > MAX_WORDS:
            break
        parts.append(body)
    return "\n\n".join(parts)


def brought_by(order: Order) -> list[str]:
    """Return the questions of an order's earlier drafts, when only the rest is needed."""
    products = Product.objects.filter(draft__order=order).order_by("draft__number", "position")
    return list(products.values_list("body", flat=True)) if order.missing else []
