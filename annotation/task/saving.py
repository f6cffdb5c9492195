"""Saving a rater's answers, submitting and skipping items; no acknowledged answer is lost."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.errors import UserError
from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Campaign,
    Item,
    Part,
    Participant,
    Rubric,
    SubQuestion,
    Text,
    User,
)
from annotation.models.rating import Exposure
from annotation.participation import assigning, feedback, parts, prerequisites, rating_sync, skips
from annotation.participation.withdrawal import end_message
from annotation.prepared import Prepared, PreparedInsert
from annotation.row_versions import version_of
from annotation.task.cards import QuestionCard
from annotation.task.forms import Remark
from annotation.task.page import item_cards
from annotation.text.spans import Span


def _newest(**filters: int | None) -> QuerySet[Any, Any]:
    return (
        Answer.objects.filter(**filters)
        .order_by("-id")
        .values_list("id", "key", "note", "confidence")[:1]
    )


_LOCKED = Prepared(
    lambda pk: (
        Assignment.objects.select_for_update(of=("self",))
        .filter(pk=pk)
        .values_list("state", "slot", "participant__campaign__state")
    ),
    1,
)
_CAMPAIGN_STATE = Prepared(lambda pk: Campaign.objects.filter(pk=pk).values_list("state"), 1)
_NEWEST = Prepared(lambda pk, question: _newest(assignment=pk, question=question, rubric=None), 2)
_NEWEST_UNDER = Prepared(
    lambda pk, question, rubric: _newest(assignment=pk, question=question, rubric=rubric), 3
)
_NEWEST_TO_CHECK = Prepared(lambda pk, check: _newest(assignment=pk, check_asked=check), 2)
_ANSWER = PreparedInsert(Answer)


class AnswerError(UserError):
    """An answer that cannot be taken; the message is for the person who gave it."""


class ReusedKeyError(AnswerError):
    """An answer with the key of another answer, as from a page that was sent before.

    `newest` is the newest answer to its question, if there is one, and `is_equal` whether it has the
    same content.
    """

    def __init__(self, newest: Answer | None, sent: Answer) -> None:
        super().__init__(
            _("This answer was already sent with other content. Please reload the page.")
        )
        self.newest = newest
        self.is_equal = newest is not None and _is_equal(newest, sent)


class UnfinishedError(Exception):
    """A submission of an item that lacks answers, or has contradicting ones; it stays open."""

    def __init__(self, missing: list[QuestionCard]) -> None:
        super().__init__()
        self.missing = missing


class AnswerConflictError(UserError):
    """An answer made without knowledge of a newer one, from another tab or device."""

    status = 409

    def __init__(self, newest: Answer, sent: Answer) -> None:
        super().__init__("This question was answered in another place meanwhile.")
        self.newest = newest
        self.is_equal = _is_equal(newest, sent)


def save_answer(
    assignment: Assignment,
    question: SubQuestion | AttentionCheck,
    *,
    key: UUID,
    grade: int | None,
    spans: Sequence[Span],
    rubric: Rubric | None = None,
    base: UUID | None = None,
    knows_base: bool = False,
    active_ms: int = 0,
    altered: bool = False,
    remark: Remark | None = None,
) -> Answer:
    """Append an answer and make it the rating of its pair. Idempotent by its key.

    `rubric` is a further one of the campaign; None: the campaign's own.
    With `knows_base`, `base` is the key of the newest answer that the page knew (None: it knew of
    none); another one in the database was given elsewhere, and is not overwritten in silence.
    `altered` is for staff: the browser displayed other words than were served.
    Without a `remark` the note and confidence of the newest answer stay.
    A grade that rests on no words has none: spans that come with it are left out.
    A submitted item that now lacks something is open again; `reopens` of the answer is then
    true. An answer to a released item is stored, and it counts if a slot is still free. In
    a closed campaign it is stored in any case, and changes nothing else; `late` has the reason.

    Raises ReusedKeyError where the key has already carried another answer, and AnswerConflictError
    where there is a newer answer than the base.
    """
    campaign = assignment.participant.campaign
    if spans and not (rubric or campaign.rubric).takes_spans(grade):
        spans = []  # from a page that did not ask; an earlier answer has them still
    stored = [{"start": s.start, "end": s.end, "quote": s.quote} for s in spans]
    is_check = isinstance(question, AttentionCheck)
    question_field: dict[str, Any] = {"check_asked" if is_check else "question": question}
    answer = Answer(
        assignment=assignment,
        rubric=rubric,
        key=key,
        grade=grade,
        spans=stored,
        text_sha256=assignment.item.as_shown().sha256,
        active_ms=active_ms,
        altered=altered,
        exposure=exposure_of(assignment.participant),
        **question_field,
    )
    problem = ""
    try:
        with transaction.atomic():
            # One writer at a time for an item: the projection must follow the newest answer.
            [(assignment.state, assignment.slot, campaign.state)] = _LOCKED.all(assignment.pk)
            if campaign.counts_answers() and rating_sync.lock_texts(answer, campaign):
                # An edit needs a closed campaign: one for which this has waited shows here.
                [(campaign.state,)] = _CAMPAIGN_STATE.all(campaign.pk)
            if problem := _feedback_refusal(assignment, question, rubric):
                if _sent_before(answer):
                    raise IntegrityError
                raise AnswerError(problem)
            is_closed = not campaign.counts_answers()
            newest = _newest_to(assignment, question, rubric)
            answer.note, answer.confidence = remark or (newest[2:] if newest else Remark())
            # In a closed campaign nothing is overwritten, so nobody has to choose.
            checks_base = knows_base and not is_closed
            if newest and checks_base and UUID(str(newest[1])) not in (key, base):
                if _sent_before(answer):
                    raise IntegrityError
                raise AnswerConflictError(Answer.objects.get(pk=newest[0]), answer)
            if answer.exposure and newest and (earlier := _unchanged(newest[0], answer)):
                answer.exposure = earlier.exposure  # a remark was added to a grade from before
            answer.late = Answer.Late.CLOSED if is_closed else assigning.late_reason(assignment)
            _ANSWER.insert_one(answer)
            if not answer.late:
                answer.reopens = _record_rating(answer, campaign)
    except IntegrityError:
        return _stored_answer(answer, remark, problem)
    return answer


def _feedback_refusal(
    assignment: Assignment, question: SubQuestion | AttentionCheck, rubric: Rubric | None
) -> str:
    """Return why an answer cannot change: the person could see the correct one; else empty.

    Decisions are under the campaign's own rubric. In a closed campaign answers are stored and do not count.
    """
    campaign = assignment.participant.campaign
    if (
        assignment.item.purpose == Item.Purpose.GOLD
        and assignment.state == Assignment.State.SUBMITTED
        and campaign.gold_feedback
    ):
        return _("You have seen the expected answers of this text. Your answers stay as they are.")
    is_adjudicated = rubric is None and isinstance(question, SubQuestion)
    if (
        is_adjudicated
        and campaign.counts_answers()
        and feedback.decision_was_shown(assignment, question.pk)
    ):
        return _("You can see the decision on this question. Your answer to it stays as it is.")
    return ""


def _unchanged(newest: int, answer: Answer) -> Answer | None:
    """Return the newest answer if it has the grade and spans of a new one."""
    stored = Answer.objects.get(pk=newest)
    is_same = (stored.grade, stored.spans) == (answer.grade, answer.spans)
    return stored if is_same else None


def exposure_of(participant: Participant) -> Exposure:
    """Return what a person had seen, in this campaign or another: decisions, or nothing.

    Expected answers of practice and gold texts are instruction, as the guideline is.
    """
    return Exposure.FEEDBACK if participant.has_seen_feedback else Exposure.NONE


def _newest_to(
    assignment: Assignment, question: SubQuestion | AttentionCheck, rubric: Rubric | None
) -> tuple[Any, ...] | None:
    """Return id, key, note and confidence of the newest answer to a question under a rubric."""
    if rubric:
        return _NEWEST_UNDER.first(assignment.pk, question.pk, rubric.pk)
    is_check = isinstance(question, AttentionCheck)
    return (_NEWEST_TO_CHECK if is_check else _NEWEST).first(assignment.pk, question.pk)


def _sent_before(answer: Answer) -> bool:
    return Answer.objects.filter(assignment=answer.assignment, key=answer.key).exists()


def _stored_answer(answer: Answer, remark: Remark | None, problem: str) -> Answer:
    """Return the stored answer with this one's key.

    Where its content differs, raises AnswerError with the reason why the answer cannot change, or
    ReusedKeyError.
    """
    stored = Answer.objects.get(assignment=answer.assignment, key=answer.key)
    answer.note, answer.confidence = remark or (stored.note, stored.confidence)
    if not _is_equal(stored, answer):
        if problem:
            raise AnswerError(problem)
        of_question = Answer.objects.filter(
            assignment=answer.assignment,
            question=answer.question_id,
            check_asked=answer.check_asked_id,
            rubric=answer.rubric_id,
        )
        raise ReusedKeyError(of_question.order_by("pk").last(), answer)
    return stored


def _is_equal(stored: Answer, sent: Answer) -> bool:
    """Return whether two answers to one item are to the same question, with the same content."""
    question = ("question_id", "check_asked_id", "rubric_id")
    content = ("grade", "spans", "note", "confidence")
    return all(getattr(stored, name) == getattr(sent, name) for name in (*question, *content))


def _record_rating(answer: Answer, campaign: Campaign) -> bool:
    """Record the rating of an answer; return whether a submitted item is open again."""
    assignment = answer.assignment
    rating_sync.rate_answer(answer, campaign)
    if assignment.state != Assignment.State.SUBMITTED or is_complete(assignment):
        return False
    if not assignment.participant.can_work:
        return False  # they have left: nobody would hand it in again
    assignment.state = Assignment.State.OPEN
    assignment.save(update_fields=["state"])
    return True


def is_complete(assignment: Assignment) -> bool:
    return all(card.is_done for card in item_cards(assignment))


def submit(assignment: Assignment, active_ms: int = 0) -> None:
    """Submit an item; idempotent. Answers can be changed while the campaign is open.

    Answers that came too late to count, before a campaign was opened again, count from now on.

    Raises AnswerError where the campaign is closed, or where the item was given to another, and
    UnfinishedError where questions are left: an answer may come from another tab just now.
    """
    with transaction.atomic():
        _lock(assignment)
        if not assignment.participant.campaign.counts_answers():
            raise AnswerError(_("This study is closed."))
        if assigning.late_reason(assignment):
            if assignment.state == Assignment.State.SUBMITTED:
                return
            reason = end_message(_current(assignment)) or _("Other people have this text now.")
            raise AnswerError(" ".join([reason, _("Your answers are kept.")]))
        rating_sync.restore_answers(assignment)
        if assignment.state == Assignment.State.SUBMITTED:
            return
        if missing := [card for card in item_cards(assignment) if not card.is_done]:
            raise UnfinishedError(missing)
        assignment.state, assignment.was_skipped = Assignment.State.SUBMITTED, False
        assignment.submitted_at = timezone.now()
        assignment.active_ms += active_ms
        assignment.save(update_fields=["state", "was_skipped", "submitted_at", "active_ms"])
        parts.end_if_done(assignment)


def _current(assignment: Assignment) -> Participant:
    """Return the participant as stored now: staff may have ended their work since."""
    return Participant.objects.get(pk=assignment.participant_id)


def skip_version(assignment: Assignment) -> str:
    """Return the version of the note and the report of an item, which its form carries."""
    return version_of([assignment.note, assignment.reported_broken])


def skip(
    assignment: Assignment, note: str, *, broken: bool = False, known_version: str = ""
) -> None:
    """Skip an item with the rater's reason; its answers stay.

    `broken` reports that the text itself is: cut off, or not to be read. A note or report that the
    page did not know stays, beside those that were sent; `known_version` is the one that it knew.

    Raises AnswerError where the campaign is closed, where the item was submitted or
    released, and where no more of its part may be skipped. Its answers are stored then, too.
    """
    with transaction.atomic():
        _lock(assignment)
        problem = skips.skip_refusal(assignment)
        if known_version and known_version != skip_version(assignment):
            note = _joined_notes(assignment.note, note)
            broken |= assignment.reported_broken
        if note or not problem:
            assignment.note = note
        if broken or not problem:
            assignment.reported_broken = broken
        assignment.save(update_fields=["note", "reported_broken"])
        if not problem:
            assignment.state, assignment.was_skipped = Assignment.State.SKIPPED, True
            assignment.save(update_fields=["state", "was_skipped"])
            parts.end_if_done(assignment)
    if problem:
        raise AnswerError(
            " ".join([problem, _("Your note is kept.")] if note or broken else [problem])
        )


def _joined_notes(stored: str, sent: str) -> str:
    """Return two notes as one, with the lines of both; a line that both have is there once."""
    lines = stored.splitlines()
    return "\n".join([*lines, *(line for line in sent.splitlines() if line not in lines)])


def _lock(assignment: Assignment) -> None:
    """Lock an assignment and its part, and refresh them and the campaign's state.

    In a transaction. The part comes first, as where a lease ends: two who lock them in turn would
    wait for ever.
    """
    # Read again: a part that was begun meanwhile takes over the open items of the one before.
    part = Assignment.objects.values_list("part", flat=True).get(pk=assignment.pk)
    assignment.part = _lock_part(part)
    rows = Assignment.objects.select_for_update(of=("self",)).select_related(
        "participant__campaign"
    )
    row = rows.get(pk=assignment.pk)
    assignment.participant.campaign.state = row.participant.campaign.state
    if row.part_id != part:  # at this very moment
        assignment.part = _lock_part(row.part_id)
    assignment.state, assignment.slot = row.state, row.slot
    assignment.active_ms, assignment.was_skipped = row.active_ms, row.was_skipped
    assignment.note, assignment.reported_broken = row.note, row.reported_broken


def _lock_part(part: int | None) -> Part | None:
    return Part.objects.select_for_update().get(pk=part) if part else None


Columns = tuple[type[Model], list[str]]


def _columns(model: type[Model], *names: str) -> Columns:
    """Return a model and the columns read of it, in the order in which from_db takes them."""
    return model, [field.attname for field in model._meta.concrete_fields if field.name in names]


# Other columns are fetched on access: texts of a campaign are long.
_ASSIGNMENT = _columns(
    Assignment, "id", "participant", "item", "part", "repeats", "slot", "state", "check_asked"
)
_ITEM = _columns(Item, "id", "campaign", "text", "purpose", "shown_body")
_TEXT = _columns(Text, "id", "body", "sha256")
_PARTICIPANT = _columns(
    Participant, "id", "campaign", "rater", "outcome", "set_aside_at", "feedback_opened_at"
)
_CAMPAIGN = _columns(
    Campaign,
    "id",
    "slug",
    "state",
    "is_pilot",
    "language",
    "rubric",
    "raters_per_item",
    "copies_equal_texts",
    "feedback",
)
_RUBRIC = _columns(Rubric, "id", "scale", "span_from")


def _prefixed_columns(path: str, columns: Columns) -> list[str]:
    return [f"{path}__{name}" for name in columns[1]]


_ASSIGNMENT_TO_ANSWER = Prepared(
    lambda user, pk, question: (
        Assignment.objects.filter(
            pk=pk, participant__rater__user=user, item__asked__question=question
        )
        .annotate(
            prerequisite=prerequisites.missing_prerequisite(),
            saw_feedback=Exists(
                Participant.objects.filter(
                    rater=OuterRef("participant__rater"), feedback_opened_at__isnull=False
                )
            ),
        )
        .order_by()
        .values_list(
            *_ASSIGNMENT[1],
            *_prefixed_columns("item", _ITEM),
            *_prefixed_columns("item__text", _TEXT),
            *_prefixed_columns("participant", _PARTICIPANT),
            *_prefixed_columns("participant__campaign", _CAMPAIGN),
            *_prefixed_columns("participant__campaign__rubric", _RUBRIC),
            "saw_feedback",
            "prerequisite",
        )
    ),
    3,
)


def item_to_answer(user: User, pk: int, question_pk: int) -> Assignment:
    """Return the user's own assignment, with its item, text, participant, campaign and rubric.

    Raises Http404 where it is another person's, or where its item does not ask this question, and
    PrerequisiteError where a prerequisite is missing.
    """
    row = _ASSIGNMENT_TO_ANSWER.first(user.pk, pk, question_pk)
    if row is None:
        raise Http404("This item does not ask that, or it is not yours.")
    *values, saw_feedback, prerequisite = row
    objects = _objects_from_row(values, _ASSIGNMENT, _ITEM, _TEXT, _PARTICIPANT, _CAMPAIGN, _RUBRIC)
    assignment, item, text, participant, campaign, rubric = objects
    assignment.item, item.text = item, text
    assignment.participant, participant.campaign = participant, campaign
    participant.has_seen_feedback = bool(saw_feedback)
    campaign.rubric = rubric
    return prerequisites.require_prerequisites(assignment, prerequisite)


def _objects_from_row(row: Sequence[Any], *parts: Columns) -> list[Any]:
    """Build the objects of a row; a field that was not read is fetched on access."""
    objects = []
    start = 0
    for model, names in parts:
        objects.append(model.from_db(DEFAULT_DB_ALIAS, names, row[start : start + len(names)]))
        start += len(names)
    return objects
