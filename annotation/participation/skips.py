"""Skipping of texts: the limit in each part, and the items needed all the same."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Assignment, Campaign, Item, Part, Participant, Rubric
from annotation.participation.withdrawal import end_message
from annotation.prepared import Prepared


@dataclass(frozen=True)
class Skips:
    """Number of skipped texts of a part and its limit. Practice does not count."""

    used: int
    limit: int
    texts: int

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def are_too_many(self) -> bool:
        """As in a part that was done before its study had a limit."""
        return self.used > self.limit


def skips_by_part(campaign: Campaign, assignments: QuerySet[Assignment]) -> dict[int | None, Skips]:
    """Count the skips of each part that these items are in; key None: items in no part.

    A text that went back to the pool untouched after it was skipped is still a skipped one. A
    text that is skipped again when it is repeated counts once.
    """
    return {
        pk: Skips(used, campaign.skip_limit(texts), texts)
        for pk, texts, used in _counts(assignments)
    }


def _counts(assignments: QuerySet[Assignment]) -> QuerySet[Any, Any]:
    study = assignments.exclude(item__purpose=Item.Purpose.TRAINING).order_by()
    released = Q(state=Assignment.State.RELEASED, was_skipped=False)
    skipped = Q(was_skipped=True) & ~Q(repeats__was_skipped=True)
    return study.values_list("part").annotate(
        texts=Count("pk", filter=~released), used=Count("pk", filter=skipped)
    )


_OF_PART = Prepared(lambda part: _counts(Assignment.objects.filter(part=part)), 1)
_OUTSIDE_PARTS = Prepared(
    lambda participant: _counts(Assignment.objects.filter(part=None, participant=participant)), 1
)


def skips_of(participant: Participant, part: Part | None) -> Skips:
    """Return the skips of one part; without a part, of all items outside of parts."""
    counts = _OF_PART.first(part.pk) if part else _OUTSIDE_PARTS.first(participant.pk)
    if counts is None:
        return Skips(0, 0, 0)
    _part, texts, used = counts
    return Skips(used, participant.campaign.skip_limit(texts), texts)


def skipped_gold(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Filter to skipped items that a part needs to be done: hidden gold.

    Raters are not told that it is gold.
    """
    return assignments.filter(state=Assignment.State.SKIPPED, item__purpose=Item.Purpose.GOLD)


def skip_refusal(assignment: Assignment) -> str:
    """Return the reason for which an item cannot be skipped now; empty where it can be.

    For its rater to read. In a transaction.
    """
    participant = assignment.participant
    if not participant.campaign.counts_answers():
        return _("This study is closed.")
    if assignment.state == Assignment.State.SUBMITTED:
        return _("You already submitted it, so you cannot skip it.")
    if assignment.state == Assignment.State.RELEASED:
        reason = end_message(participant) or _("Other people can get this text now.")
        return " ".join([reason, _("There is nothing to skip.")])
    if assignment.item.purpose == Item.Purpose.TRAINING:
        return _("Practice comes before the other texts, so it cannot be skipped.")
    was_skipped = assignment.was_skipped or (
        assignment.repeats is not None and assignment.repeats.was_skipped
    )
    if not was_skipped and not skips_of(participant, assignment.part).left:
        return no_more_skips_message(participant.campaign.rubric)
    return ""


def no_more_skips_message(rubric: Rubric) -> str:
    """Return the message that no text can be skipped, with what to do instead."""
    if rubric.eta is not None and rubric.shows_text:
        return _(
            "You cannot skip more texts of this part. Use only this text. If the text does not say it, "
            "choose “not answerable”."
        )
    return _("You cannot skip more texts of this part. Please answer as well as you can.")
