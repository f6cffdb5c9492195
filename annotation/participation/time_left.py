"""Estimate of the working time that is left in a part, from the person's own pace."""

from statistics import median

from annotation.models import Assignment, Campaign, Item, Part
from annotation.participation import active_time, parts
from annotation.participation.pay_rate import MINUTE_MS
from annotation.prepared import Prepared

ENOUGH = 3  # submitted texts with a measured time, before the own pace is used
_STATES = Prepared(
    lambda part: (
        Assignment.objects.filter(part=part)
        .exclude(state=Assignment.State.RELEASED)
        .order_by()
        .values_list("pk", "state", "item__purpose")
    ),
    1,
)


def minutes_left(part: Part | None) -> int | None:
    """Return the estimated minutes of work until a part is done, rounded.

    Open texts, practice among them, times the median active time of the part's submitted texts; with
    fewer than three of them, times the campaign's minutes of a text. None where nothing is
    open, the part cannot be finished, or neither is known.
    """
    if part is None or not parts.can_be_done(part):
        return None
    states = _STATES.all(part.pk)
    n_open = sum(state == Assignment.State.OPEN for _pk, state, _purpose in states)
    if not n_open:
        return None
    texts = {pk: state for pk, state, purpose in states if purpose != Item.Purpose.TRAINING}
    minutes = _own_minutes(part, texts) or _stated_minutes(part.participant.campaign, len(texts))
    return None if minutes is None else round_minutes(n_open * minutes)


def _own_minutes(part: Part, texts: dict[int, str]) -> float | None:
    """Return the median active minutes of the part's submitted texts; None with too few."""
    submitted = [pk for pk, state in texts.items() if state == Assignment.State.SUBMITTED]
    if len(submitted) < ENOUGH:
        return None
    times = active_time.by_assignment([part.participant_id])
    measured_ms = [times[pk].ms for pk in submitted if pk in times and times[pk].ms]
    return median(measured_ms) / MINUTE_MS if len(measured_ms) >= ENOUGH else None


def _stated_minutes(campaign: Campaign, n_texts: int) -> float | None:
    """Return the stated minutes of a part, divided by its texts; None where none are stated.

    A part that is shorter, as texts were submitted before, has the minutes of a whole part for
    as many texts as that has.
    """
    if not campaign.minutes_per_part:
        return None
    return campaign.minutes_per_part / max(n_texts, campaign.items_per_part or 1)


def round_minutes(minutes: float) -> int:
    """Round to minutes below 10, to 5 below an hour and to 15 from there; at least 1."""
    step = 1 if minutes < 10 else 5 if minutes < 60 else 15
    return max(1, int(minutes / step + 0.5) * step)
