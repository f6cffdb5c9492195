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
    for other in earlier.exclude(pk=campaign.pk).order_by("-pk").distinct()[:NEWEST]:
        submitted = Assignment.objects.filter(
            participant__campaign=other,
            state=Assignment.State.SUBMITTED,
            item__purpose=Item.Purpose.STUDY,
        )
        keys = set(submitted.values_list("pk", flat=True))
        times = active_time.by_assignment(other.participants.values("pk"))
        measured = [time.ms for key, time in times.items() if key in keys and time.ms]
        if len(measured) >= ENOUGH:
            return MeasuredMinutes(median(measured) / MINUTE_MS, len(measured), other)
    return None
