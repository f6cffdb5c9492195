"""What a person decides about a product, and what that makes of the collection.

Nothing generated is in the collection that nobody decided about. A decision is made once; who wants to
take an accepted one back corrects the collection, where others may have rated it already.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotation.formats.foreign.nuggets import IMPORTANCE as WEIGHTS
from annotation.formats.foreign.nuggets import OF_TOPIC
from annotation.models import Citation, Dataset, Rater, Rating, SubQuestion, Text, Topic, User
from annotation.models.standard import IMPORTANCE, add_standard
from annotation.text.spans import Span, locate
from building.engine.system_settings import tell_settings
from building.engine.wanted import Wanted
from building.engine.writings import report_name, system_of
from building.models import Order, Product, Writing
from building.writing.citations import place_of
from building.writing.pairs import parts_of
from building.writing.parse import weighed

Decision = Product.Decision
PASSAGE_OF = "{document}#{number}"
# What a decision changes of a product.
DECIDED = ("decision", "edited", "decided", "decided_by", "unseen", "text", "question")


class DecisionRefused(ValueError):
    """A decision that cannot be made; a sentence for people."""


def open_products(run: Writing) -> QuerySet[Product]:
    """Those of a writing that nobody has decided about, in the order of its drafts."""
    waiting = Product.objects.filter(draft__order__run=run, decision=Decision.PROPOSED)
    return waiting.order_by("draft__order__number", "draft__number", "position")


@transaction.atomic
def accept(product: Product, by: User | None, edited: str = "", *, unseen: bool = False) -> None:
    """Take a product into the collection, with other words where `edited` has some.

    Raises DecisionRefused where somebody has decided before, or the collection has no place for it.
    """
    Dataset.objects.lock(product.draft.order.run.dataset_id)
    product = _locked(product)
    edited = edited.strip()
    if edited in ("", product.body.strip()):
        edited = ""
    product.edited = edited
    _enter(product)
    _decide(product, Decision.EDITED if edited else Decision.ACCEPTED, by, unseen=unseen)


@transaction.atomic
def reject(product: Product, by: User | None) -> None:
    """Leave a product out of the collection for ever. Raises DecisionRefused."""
    _decide(_locked(product), Decision.REJECTED, by)


def accept_rest(run: Writing, by: User | None, most: int | None = None) -> tuple[int, list[str]]:
    """Accept what nobody has looked at, which is kept; returns how many, and why others were not."""
    n, refused = 0, []
    for product in list(open_products(run)[:most]):
        try:
            accept(product, by, unseen=True)
        except DecisionRefused as error:
            refused.append(str(error))
        else:
            n += 1
    return n, refused


def _locked(product: Product) -> Product:
    product = (
        Product.objects.select_for_update(of=("self",))
        .select_related(
            "draft__order__topic", "draft__order__document", "draft__order__run__writer"
        )
        .get(pk=product.pk)
    )
    if not product.is_open:
        by = f", by {product.decided_by}" if product.decided_by else ""
        raise DecisionRefused(f"It is {product.get_decision_display()} already{by}.")
    return product


def _decide(product: Product, decision: Decision, by: User | None, *, unseen: bool = False) -> None:
    product.decision = decision
    product.decided, product.decided_by, product.unseen = timezone.now(), by, unseen
    product.save(update_fields=DECIDED)


def _enter(product: Product) -> None:
    order = product.draft.order
    try:
        with transaction.atomic():
            _ENTERS[order.run.writer.task](product, order)
    except IntegrityError:
        raise DecisionRefused(
            "Somebody has just put something else in its place: try again."
        ) from None


def _passage(product: Product, order: Order) -> None:
    document = order.document
    if document is None:
        raise DecisionRefused("Its document is gone.")
    there = Text.objects.filter(dataset=order.topic.dataset_id, kind=Text.Kind.PASSAGE)
    number = document.passages.count()
    while there.filter(name=(name := PASSAGE_OF.format(document=document, number=number))).exists():
        number += 1
    if len(name) > (most := Text._meta.get_field("name").max_length or 0):
        raise DecisionRefused(
            f"Its name would be longer than {most} characters, as its document's is nearly."
        )
    found = locate(document.body, product.words)
    product.text = Text.objects.create(
        dataset_id=order.topic.dataset_id,
        topic=order.topic,
        kind=Text.Kind.PASSAGE,
        name=name,
        body=product.words,
        document=document,
        start=found[0].start if found else None,
        end=found[0].end if found else None,
    )


def _request(product: Product, order: Order) -> None:
    words = " ".join(product.words.split())
    changed = Topic.objects.filter(pk=order.topic_id, request="").update(request=words)
    if not changed:
        raise DecisionRefused(f"{order.topic} has a request already.")


def _question(product: Product, order: Order) -> None:
    _ask(product, order, product.words)


def _ask(product: Product, order: Order, body: str) -> None:
    words = " ".join(body.split())
    questions = order.topic.questions
    if questions.filter(body=words).exists():
        raise DecisionRefused(f"{order.topic} has this question already: {words}")
    last = questions.aggregate(last=Max("position"))["last"]
    product.question = SubQuestion.objects.create(
        topic=order.topic, position=0 if last is None else last + 1, body=words
    )


def _nugget(product: Product, order: Order) -> None:
    """Its words as a sub-question, and its importance, as accepted, rated by a rater called like the writer.

    Where a person left out what stood before the words, it is as the writer proposed.
    """
    importance, words = weighed(product.words)
    _ask(product, order, words)
    assert product.question is not None
    text, _ = Text.objects.get_or_create(
        dataset_id=order.topic.dataset_id,
        kind=Text.Kind.PASSAGE,
        system="",
        name=OF_TOPIC.format(order.topic),
        defaults={"topic": order.topic},
    )
    Rating.objects.record(
        rater=_rater(order).pk,
        rubric=add_standard(IMPORTANCE).pk,
        text=text.pk,
        question=product.question.pk,
        grade=WEIGHTS[importance or weighed(product.body)[0]],
    )


def _rater(order: Order) -> Rater:
    """Whose weights they are: called like the writer, in this dataset alone."""
    writer = order.run.writer
    kind = Rater.Kind.BASELINE if writer.is_baseline else Rater.Kind.MODEL
    rater, _ = Rater.objects.get_or_create(
        dataset_id=order.topic.dataset_id, name=writer.slug, defaults={"kind": kind}
    )
    if rater.kind != kind:
        raise DecisionRefused(f"{rater} is a {rater.get_kind_display()} here, and no writer.")
    return rater


def _report(product: Product, order: Order) -> None:
    system = system_of(order.run.writer, Wanted.from_json(order.run.selection))
    name = report_name(order.topic, order.sample)
    there = Text.objects.filter(
        dataset=order.topic.dataset_id, kind=Text.Kind.REPORT, system=system, name=name
    )
    if there.exists():
        raise DecisionRefused(f"{order.topic} has a report of {system} already.")
    product.text = Text.objects.create(
        dataset_id=order.topic.dataset_id,
        topic=order.topic,
        kind=Text.Kind.REPORT,
        system=system,
        name=name,
        body=product.words,
    )
    tell_settings(order.topic.dataset, order.run.writer, Wanted.from_json(order.run.selection))
    _cite(product, product.text, order)


def _cite(product: Product, report: Text, order: Order) -> None:
    """The citations of a report; of one that was edited, those of the sentences that are as they were."""
    keys = order.inputs.get("passages", [])
    there = dict(Text.objects.filter(pk__in=keys).values_list("pk", "name"))
    names = [there.get(pk, "") for pk in keys]
    citations: list[Citation] = []
    for start, end, labels in product.statements:
        span = Span(start, end, product.body[start:end])
        if product.edited:
            found = locate(product.edited, span.quote)
            if found is None:
                continue
            span = found[0]
        for label in labels:
            place = place_of(label, names)
            citations.append(
                Citation(
                    report=report,
                    position=len(citations),
                    start=span.start,
                    end=span.end,
                    label=label[:250],
                    cited_id=keys[place] if place is not None and names[place] else None,
                )
            )
    Citation.objects.bulk_create(citations)


def _nowhere(product: Product, order: Order) -> None:
    """Statements are there to be read; accepted pairs are written into a file (building.formats.pairs)."""


def _pair(product: Product, order: Order) -> None:
    question, answer = parts_of(product.words)
    if not question or not answer:
        raise DecisionRefused(
            "The first line is the question, and its answer is below: one is missing."
        )


_ENTERS = {
    "passages": _passage,
    "request": _request,
    "questions": _question,
    "nuggets": _nugget,
    "report": _report,
    "direct": _report,
    "statements": _nowhere,
    "pairs": _pair,
}
