"""Review of generated outputs: accept into the collection, edit, or reject.

Nothing generated enters the collection without a decision. A decision is final; to undo an accepted
output, correct the collection itself, where others may have rated it already.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotation.errors import UserError
from annotation.formats.foreign.nuggets import IMPORTANCE as WEIGHTS
from annotation.formats.foreign.nuggets import OF_TOPIC
from annotation.models import Citation, Dataset, Rater, Rating, SubQuestion, Text, Topic, User
from annotation.models.rating import Exposure
from annotation.models.standard import IMPORTANCE, add_standard
from annotation.origins import QUESTIONS, WROTE
from annotation.text.spans import Span, locate
from building.engine.generation_spec import GenerationSpec
from building.engine.origins import origin_of_writer
from building.engine.system_settings import record_settings
from building.engine.writings import CONTEXT_ORIGINS, report_name, system_of
from building.models import Order, Product, Writing
from building.writing.citations import passage_index
from building.writing.pairs import parts_of
from building.writing.parse import split_importance

Decision = Product.Decision
PASSAGE_OF = "{document}#{number}"
# Fields that a decision changes.
DECIDED = ("decision", "edited", "decided", "decided_by", "unseen", "text", "question")


class ReviewError(UserError):
    """A decision that cannot be made; a sentence for people."""


def open_products(run: Writing) -> QuerySet[Product]:
    """Return the unreviewed outputs of a generation run, in the order of its drafts."""
    waiting = Product.objects.filter(draft__order__run=run, decision=Decision.PROPOSED)
    return waiting.order_by("draft__order__number", "draft__number", "position")


@transaction.atomic
def accept(product: Product, by: User | None, edited: str = "", *, unseen: bool = False) -> None:
    """Accept an output into the collection, with the text `edited` if it is not empty.

    Idempotent if a form is sent twice. Raises ReviewError where another decision was made before, or
    the collection has no place for it.
    """
    Dataset.objects.lock(product.draft.order.run.dataset_id)
    edited = edited.strip()
    if edited in ("", product.body.strip()):
        edited = ""
    decision = Decision.EDITED if edited else Decision.ACCEPTED
    locked = _lock_undecided(product, decision, by, edited)
    if locked is None:
        return
    locked.edited = edited
    _add_to_collection(locked)
    _decide(locked, decision, by, unseen=unseen)


@transaction.atomic
def reject(product: Product, by: User | None) -> None:
    """Reject an output permanently; idempotent if a form is sent twice. Raises ReviewError."""
    if locked := _lock_undecided(product, Decision.REJECTED, by):
        _decide(locked, Decision.REJECTED, by)


def accept_rest(run: Writing, by: User | None, limit: int | None = None) -> tuple[int, list[str]]:
    """Accept all unreviewed outputs, marked as unseen; return the number and the refusals."""
    n, refused = 0, []
    for product in list(open_products(run)[:limit]):
        try:
            accept(product, by, unseen=True)
        except ReviewError as error:
            refused.append(str(error))
        else:
            n += 1
    return n, refused


def _lock_undecided(
    product: Product, decision: Decision, by: User | None, edited: str = ""
) -> Product | None:
    """Lock an output and return it; None if the person has made this decision already.

    Raises ReviewError where another decision was made.
    """
    product = (
        Product.objects.select_for_update(of=("self",))
        .select_related(
            "draft__order__topic", "draft__order__document", "draft__order__run__writer"
        )
        .get(pk=product.pk)
    )
    if product.is_open:
        return product
    is_same = (product.decision, product.edited, product.decided_by) == (decision, edited, by)
    if is_same and by:
        return None
    reviewer = f", by {product.decided_by}" if product.decided_by else ""
    raise ReviewError(f"This output is already {product.get_decision_display()}{reviewer}.")


def _decide(product: Product, decision: Decision, by: User | None, *, unseen: bool = False) -> None:
    product.decision = decision
    product.decided, product.decided_by, product.unseen = timezone.now(), by, unseen
    product.save(update_fields=DECIDED)


def _add_to_collection(product: Product) -> None:
    order = product.draft.order
    try:
        with transaction.atomic():
            _ACCEPT[order.run.writer.task](product, order)
    except IntegrityError:
        raise ReviewError("Somebody changed the dataset in the meantime: try again.") from None


def _add_passage(product: Product, order: Order) -> None:
    document = order.document
    if document is None:
        raise ReviewError("Its document was deleted.")
    passages = Text.objects.filter(dataset=order.topic.dataset_id, kind=Text.Kind.PASSAGE)
    number = document.passages.count()
    while passages.filter(
        name=(name := PASSAGE_OF.format(document=document, number=number))
    ).exists():
        number += 1
    if len(name) > (max_length := Text._meta.get_field("name").max_length or 0):
        raise ReviewError(
            f"Its name would be longer than {max_length} characters, as its document's is nearly."
        )
    match = locate(document.body, product.words)
    product.text = Text.objects.create(
        dataset_id=order.topic.dataset_id,
        topic=order.topic,
        kind=Text.Kind.PASSAGE,
        name=name,
        body=product.words,
        document=document,
        start=match[0].start if match else None,
        end=match[0].end if match else None,
        origins=[origin_of_writer(order.run.writer, WROTE, is_edited=bool(product.edited))],
    )


def _set_request(product: Product, order: Order) -> None:
    request = " ".join(product.words.split())
    changed = Topic.objects.filter(pk=order.topic_id, request="").update(request=request)
    if not changed:
        raise ReviewError(f"{order.topic} already has a request.")


def _add_output_question(product: Product, order: Order) -> None:
    _add_question(product, order, product.words, is_edited=bool(product.edited))


def _add_question(product: Product, order: Order, body: str, *, is_edited: bool) -> None:
    question = " ".join(body.split())
    questions = order.topic.questions
    if questions.filter(body=question).exists():
        raise ReviewError(f"{order.topic} already has this question: {question}")
    last = questions.aggregate(last=Max("position"))["last"]
    product.question = SubQuestion.objects.create(
        topic=order.topic,
        position=0 if last is None else last + 1,
        body=question,
        origins=[origin_of_writer(order.run.writer, QUESTIONS, is_edited=is_edited)],
    )


def _add_nugget(product: Product, order: Order) -> None:
    """Add the nugget as a sub-question, and rate its importance as the writer's rater.

    Where a person removed the importance before the text, the writer's proposal counts.
    """
    importance, nugget = split_importance(product.words)
    _add_question(product, order, nugget, is_edited=nugget != split_importance(product.body)[1])
    assert product.question is not None
    text, _ = Text.objects.get_or_create(
        dataset_id=order.topic.dataset_id,
        kind=Text.Kind.PASSAGE,
        system="",
        name=OF_TOPIC.format(order.topic),
        defaults={"topic": order.topic},
    )
    Rating.objects.record(
        rater=_writer_rater(order).pk,
        rubric=add_standard(IMPORTANCE).pk,
        text=text.pk,
        question=product.question.pk,
        grade=WEIGHTS[importance or split_importance(product.body)[0]],
        exposure=Exposure.NONE,
    )


def _writer_rater(order: Order) -> Rater:
    """Return the rater with the writer's name in this dataset; create it if needed."""
    writer = order.run.writer
    kind = Rater.Kind.BASELINE if writer.is_baseline else Rater.Kind.MODEL
    rater, _ = Rater.objects.get_or_create(
        dataset_id=order.topic.dataset_id, name=writer.slug, defaults={"kind": kind}
    )
    if rater.kind != kind:
        raise ReviewError(f"{rater} is a {rater.get_kind_display()} here, and no writer.")
    return rater


def _add_report(product: Product, order: Order) -> None:
    system = system_of(order.run.writer, GenerationSpec.from_json(order.run.selection))
    name = report_name(order.topic, order.sample)
    existing = Text.objects.filter(
        dataset=order.topic.dataset_id, kind=Text.Kind.REPORT, system=system, name=name
    )
    if existing.exists():
        raise ReviewError(f"{order.topic} already has a report of {system}.")
    product.text = Text.objects.create(
        dataset_id=order.topic.dataset_id,
        topic=order.topic,
        kind=Text.Kind.REPORT,
        system=system,
        name=name,
        body=product.words,
        origins=[
            origin_of_writer(order.run.writer, WROTE, is_edited=bool(product.edited)),
            *order.run.selection.get(CONTEXT_ORIGINS, ()),
        ],
    )
    record_settings(
        order.topic.dataset, order.run.writer, GenerationSpec.from_json(order.run.selection)
    )
    _add_citations(product, product.text, order)


def _add_citations(product: Product, report: Text, order: Order) -> None:
    """Store the citations of a report; for an edited one, those of unchanged sentences."""
    keys = order.inputs.get("passages", [])
    known_names = dict(Text.objects.filter(pk__in=keys).values_list("pk", "name"))
    names = [known_names.get(pk, "") for pk in keys]
    citations: list[Citation] = []
    for start, end, labels in product.statements:
        span = Span(start, end, product.body[start:end])
        if product.edited:
            match = locate(product.edited, span.quote)
            if match is None:
                continue
            span = match[0]
        for label in labels:
            index = passage_index(label, names)
            citations.append(
                Citation(
                    report=report,
                    position=len(citations),
                    start=span.start,
                    end=span.end,
                    label=label[:250],
                    cited_id=keys[index] if index is not None and names[index] else None,
                )
            )
    Citation.objects.bulk_create(citations)


def _keep_in_draft(product: Product, order: Order) -> None:
    """Add nothing: statements are only read, accepted pairs go to building.formats.pairs."""


def _check_pair(product: Product, order: Order) -> None:
    question, answer = parts_of(product.words)
    if not question or not answer:
        raise ReviewError(
            "Enter the question in the first line and its answer below: one is missing."
        )


_ACCEPT = {
    "passages": _add_passage,
    "request": _set_request,
    "questions": _add_output_question,
    "nuggets": _add_nugget,
    "report": _add_report,
    "direct": _add_report,
    "statements": _keep_in_draft,
    "pairs": _check_pair,
}
