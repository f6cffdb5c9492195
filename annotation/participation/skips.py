"""Skipping: how many texts of a part may be put aside, and which of them are needed all the same."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Assignment, Campaign, Item, Part, Participant, Rubric


@dataclass(frozen=True)
class Skips:
    """How many texts of a part were skipped, of how many that may be. Practice is no text of it."""

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


def by_part(campaign: Campaign, assignments: QuerySet[Assignment]) -> dict[int | None, Skips]:
    """Those of each part that these items of a campaign are in; None: what is in no part.

    A text that went back to the others untouched after it was skipped is still a skipped one.
    """
    study = assignments.exclude(item__purpose=Item.Purpose.TRAINING).order_by()
    back = Q(state=Assignment.State.RELEASED, was_skipped=False)
    counted = study.values_list("part").annotate(
        texts=Count("pk", filter=~back), used=Count("pk", filter=Q(was_skipped=True))
    )
    return {pk: Skips(used, campaign.skip_limit(texts), texts) for pk, texts, used in counted}


def skips_of(participant: Participant, part: Part | None) -> Skips:
    """Those of one part; without one, of all that the participant holds outside of parts."""
    skips = by_part(participant.campaign, participant.assignments.filter(part=part))
    return skips.get(part.pk if part else None, Skips(0, 0, 0))


def needed(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Those that were skipped and without which a part is not done: hidden gold, not to be told as such."""
    return assignments.filter(state=Assignment.State.SKIPPED, item__purpose=Item.Purpose.GOLD)


def why_not(assignment: Assignment) -> str:
    """Why an item cannot be skipped now, in words for its rater; empty where it can. In a transaction."""
    participant = assignment.participant
    if not participant.campaign.counts_answers():
        return _("This study is closed.")
    if assignment.state == Assignment.State.SUBMITTED:
        return _("It was handed in already, so it cannot be skipped.")
    if assignment.state == Assignment.State.RELEASED:
        return _("The time for this item ended, so there is nothing to skip.")
    if assignment.item.purpose == Item.Purpose.TRAINING:
        return _("Practice comes before the other texts, so it cannot be skipped.")
    if not assignment.was_skipped and not skips_of(participant, assignment.part).left:
        return no_more(participant.campaign.rubric)
    return ""


def no_more(rubric: Rubric) -> str:
    """That a text cannot be skipped, and what to do with it instead."""
    if rubric.eta is not None and rubric.shows_text:
        return _(
            "No more texts of this part can be skipped. Answer this one from what is there: what it "
            "does not say, it does not answer."
        )
    return _("No more texts of this part can be skipped. Answer this one as well as you can.")
