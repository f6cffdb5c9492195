"""Messages between a participant and the researchers: the conversation of one person."""

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import ItemQuestion, Message, Participant
from annotation.participation.withdrawal import ParticipationError, lock_participant


def newest_message(participant: Participant) -> int:
    """Return the key of the newest message of a conversation; 0 without any."""
    return participant.messages.order_by("-pk").values_list("pk", flat=True).first() or 0


@transaction.atomic
def write_to_researchers(
    participant: Participant, body: str, known_message: int, about: ItemQuestion | None = None
) -> Message:
    """Store a message of a participant; idempotent if a form is sent twice.

    `known_message` is the newest message that the page of the form displayed, `about` the pair with whose
    decision the person disagrees. Raises ParticipationError where the personal data of the person was
    deleted meanwhile.
    """
    participant = lock_participant(participant)
    if participant.erased_at:
        raise ParticipationError(_("Your data in this study was deleted."))
    own_messages = participant.messages.filter(is_from_participant=True, pk__gt=known_message)
    if sent_before := own_messages.filter(body=body, about=about).first():
        return sent_before
    return participant.messages.create(
        campaign=participant.campaign, body=body, about=about, is_from_participant=True
    )
