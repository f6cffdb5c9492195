"""Counts of a draft's sample, as the builder displays them."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from annotation.builder.equal_texts import count_copies
from annotation.models import Campaign, Item

N_EXAMPLES = 3  # items that are shown with their questions


@dataclass
class SampleCounts:
    """Items by purpose and their questions; study items by system and topic."""

    items: dict[str, int] = field(default_factory=dict)
    questions: int = 0
    systems: list[Any] = field(default_factory=list)
    topics: list[Any] = field(default_factory=list)
    first: list[Item] = field(default_factory=list)
    copies: int = 0
    """Texts that get the grades of a text of equal words."""
    left_out: list[tuple[str, int]] = field(default_factory=list)

    @property
    def n_left_out(self) -> int:
        return sum(n for _, n in self.left_out)


def sample_counts(campaign: Campaign) -> SampleCounts:
    """Return the counts of the stored sample; zeros where nothing is drawn."""
    by_purpose: dict[str, int] = dict(
        campaign.items.order_by().values_list("purpose").annotate(Count("pk"))
    )
    study = campaign.items.filter(purpose=Item.Purpose.STUDY)
    counts = {"n": Count("pk", distinct=True), "questions": Count("asked")}
    left_out: dict[str, int] = campaign.selection.get("left_out", {})
    return SampleCounts(
        items={purpose.value: by_purpose.get(purpose.value, 0) for purpose in Item.Purpose},
        questions=study.aggregate(n=Count("asked"))["n"],
        systems=list(
            study.exclude(text__system="")
            .values("text__system")
            .annotate(**counts)
            .order_by("text__system")
        ),
        topics=list(
            study.values("text__topic__name")
            .annotate(**counts)
            .order_by("text__topic__position", "text__topic__name")
        ),
        first=list(
            study.select_related("text__topic").prefetch_related("asked__question")[:N_EXAMPLES]
        ),
        copies=count_copies(campaign),
        left_out=sorted(left_out.items()),
    )
