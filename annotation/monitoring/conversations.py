"""Conversations of staff with single participants: unread messages, answers."""

from collections import defaultdict
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotation.models import Campaign, LogEntry, Message, Participant, User
from annotation.monitoring.forms import ReplyForm
from annotation.participation.withdrawal import ParticipationError, lock_participant


@dataclass(frozen=True)
class Conversation:
    """Messages with a participant, oldest first, and the form for an answer."""

    participant: Participant
    messages: list[Message]
    form: ReplyForm

    @property
    def n_unread(self) -> int:
        return sum(m.is_from_participant and m.read_at is None for m in self.messages)

    @property
    def newest(self) -> int:
        return self.messages[-1].pk


class ConversationChangedError(ParticipationError):
    """Somebody has written since the page was opened."""


def conversations(
    campaign: Campaign, *, only_unread: bool = False, refused: tuple[int, ReplyForm] | None = None
) -> list[Conversation]:
    """Return the conversations of a campaign: with unread messages first, then the newest.

    `refused` is the participant's key and the form of an answer that was not sent.
    """
    people: QuerySet[Participant] = campaign.participants.filter(messages__isnull=False)
    if only_unread:
        people = campaign.participants.filter(pk__in=Message.objects.unread().values("participant"))
    ordered = people.annotate(newest=Max("messages")).select_related("rater").order_by("-newest")
    by_person: dict[int | None, list[Message]] = defaultdict(list)
    messages = Message.objects.filter(participant__in=people).select_related(
        "by", "about__question", "about__item__text"
    )
    for message in messages.defer("about__item__text__body"):
        by_person[message.participant_id].append(message)
    listed = []
    for participant in ordered:
        # One may have been erased, or have written, since the first query.
        if person_messages := by_person.get(participant.pk):
            form = ReplyForm(
                initial={"newest": person_messages[-1].pk}, auto_id=f"id_{participant.pk}_%s"
            )
            if refused and refused[0] == participant.pk:
                form = refused[1]
            listed.append(Conversation(participant, person_messages, form))
    return sorted(listed, key=lambda conversation: not conversation.n_unread)


@transaction.atomic
def answer_participant(participant: Participant, body: str, newest: int, by: User) -> Message:
    """Send an answer to a participant, and mark their messages up to `newest` as read.

    Idempotent if a form is sent twice.

    Raises ConversationChangedError where there is a message after `newest`, and
    ParticipationError where the personal data of the person was deleted.
    """
    participant = lock_participant(participant)
    if participant.erased_at:
        raise ParticipationError("The personal data of this participant is already deleted.")
    later = participant.messages.filter(pk__gt=newest)
    if sent_before := later.filter(by=by, body=body).first():
        return sent_before
    if later.exists():
        raise ConversationChangedError(
            "Nothing was sent: the person or other staff have written since you opened the page. "
            "Read it, then send your answer again."
        )
    _mark_read(participant, newest)
    message = participant.messages.create(campaign=participant.campaign, body=body, by=by)
    detail = f"message {message.pk}"
    LogEntry.record(participant.campaign, by, "answered a message", detail, participant)
    return message


@transaction.atomic
def mark_read(participant: Participant, newest: int) -> int:
    """Mark a participant's messages up to `newest` as read; return their number."""
    return _mark_read(lock_participant(participant), newest)


def _mark_read(participant: Participant, newest: int) -> int:
    unread = Message.objects.unread().filter(participant=participant, pk__lte=newest)
    return unread.update(read_at=timezone.now())
