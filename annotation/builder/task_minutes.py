"""Minutes that a text takes: measured in an earlier campaign of the dataset, or unknown."""

from dataclasses import dataclass
from statistics import median

from annotation.models import Assignment, Campaign, Item
from annotation.participation import active_time

ENOUGH = 5  # texts with a measured time
NEWEST = 5  # campaigns that are looked at
MINUTE_MS = 60_000


@dataclass(frozen=True)
class MeasuredMinutes:
    """Median active minutes of the submitted texts of a campaign, and their number."""

    minutes: float
    n: int
    campaign: Campaign


def measure_minutes(campaign: Campaign) -> MeasuredMinutes | None:
    """Return the median minutes of a text in the newest campaign like this one.

    It has the same dataset, rubric and kind of text. None where no campaign has enough measured texts.
    """
    earlier = Campaign.objects.published().filter(
        dataset=campaign.dataset_id,
        rubric=campaign.rubric_id,
        items__text__kind=campaign.kind,
        items__assignments__state=Assignment.State.SUBMITTED,
    )
    for campaign_before in earlier.exclude(pk=campaign.pk).order_by("-pk").distinct()[:NEWEST]:
        submitted = Assignment.objects.filter(
            participant__campaign=campaign_before,
            state=Assignment.State.SUBMITTED,
            item__purpose=Item.Purpose.STUDY,
            repeats=None,  # what somebody knows already is read faster
        )
        keys = set(submitted.values_list("pk", flat=True))
        times = active_time.by_assignment(campaign_before.participants.values("pk"))
        times_ms = [time.ms for key, time in times.items() if key in keys and time.ms]
        if len(times_ms) >= ENOUGH:
            return MeasuredMinutes(median(times_ms) / MINUTE_MS, len(times_ms), campaign_before)
    return None
