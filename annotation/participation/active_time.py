"""Active time per item: the browser's claim, capped by the server's clock.

Each answer, and submitting, brings the active milliseconds since the one before, as the page
counted them. They are stored and exported as they were sent; anybody can send any number. The
server knows when it showed an item first and when the last of it arrived, and more time than lies
between was not worked. An answer that waited offline arrives late, which makes its item's span
longer and never shorter. All readers of active time take it from here.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, OuterRef, QuerySet, Subquery, Sum
from django.utils import timezone

from annotation.models import Assignment, Part

MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Claim:
    """The milliseconds claimed for one item, and its span by the server's clock.

    `opened`: when it was shown first (None: nothing is known of it); `arrived`: when the last answer or
    the submitting came (None: nothing came).
    """

    ms: int
    opened: datetime | None
    arrived: datetime | None


@dataclass(frozen=True, slots=True)
class ActiveTime:
    """Counted milliseconds of an item, and the excess claimed beyond what is possible."""

    ms: int
    excess_ms: int = 0


def note_opening(assignment: Assignment) -> None:
    """Record that the page of an item is displayed for the first time.

    Not where it was answered before: then it was opened at a time that nobody recorded.
    """
    if assignment.opened_at is None:
        unopened = Assignment.objects.filter(pk=assignment.pk, opened_at=None, answers=None)
        unopened.update(opened_at=timezone.now())


def held_to_clock(claims: Sequence[Claim]) -> list[ActiveTime]:
    """Cap each of one person's claims by the server's clock; return counted and excess time.

    An item counts from its opening to its last arrival at most. Items whose spans overlap count together as
    much as the time that they cover: each is cut by the same share. A person has two hands, and may have
    two windows side by side that both count, so of overlapping items only what goes beyond twice
    that time is in the excess. A claim without a known opening is not capped.
    """
    possible = [min(claim.ms, _length(claim)) for claim in claims]
    excess = [claim.ms - ms for claim, ms in zip(claims, possible, strict=True)]
    for overlapping, length in _overlapping(claims):
        total = sum(possible[index] for index in overlapping)
        for index in overlapping if total > length else ():
            ms = possible[index]
            possible[index] = ms * length // total
            excess[index] += ms * max(0, total - 2 * length) // total
    return [ActiveTime(*times) for times in zip(possible, excess, strict=True)]


def _length(claim: Claim) -> int:
    if claim.opened is None or claim.arrived is None:
        return claim.ms
    return max(0, (claim.arrived - claim.opened) // MILLISECOND)


def _overlapping(claims: Sequence[Claim]) -> list[tuple[list[int], int]]:
    """Group claims whose spans overlap: their indices, and the milliseconds covered together."""
    spans = sorted(
        (claim.opened, claim.arrived, index)
        for index, claim in enumerate(claims)
        if claim.opened and claim.arrived and claim.opened <= claim.arrived
    )
    groups: list[tuple[datetime, datetime, list[int]]] = []
    for opened, arrived, index in spans:
        if groups and opened < groups[-1][1]:
            start, end, indices = groups[-1]
            groups[-1] = start, max(end, arrived), [*indices, index]
        else:
            groups.append((opened, arrived, [index]))
    return [(indices, (end - start) // MILLISECOND) for start, end, indices in groups]


def by_assignment(participants: QuerySet[Any, Any] | Iterable[int]) -> dict[int, ActiveTime]:
    """Return the active time of each assignment of these participants (or their keys).

    One query. An item of which the opening is not known (from before it was recorded, or answered
    by a script that never showed it) is capped at the beginning of its participant's first part.
    """
    first = Part.objects.filter(participant=OuterRef("participant")).order_by("number")
    rows = (
        Assignment.objects.filter(participant__in=participants)
        .order_by("pk")
        .annotate(
            began=Subquery(first.values("began")[:1]),
            claimed=Sum("answers__active_ms"),
            answered=Max("answers__created"),
        )
        .values_list(
            *("pk", "participant", "active_ms", "claimed"),
            *("opened_at", "began", "answered", "submitted_at"),
        )
    )
    claims: dict[int, list[Claim]] = defaultdict(list)
    keys: dict[int, list[int]] = defaultdict(list)
    for pk, participant, submit_ms, claimed, opened, began, answered, submitted in rows:
        arrived = max((moment for moment in (answered, submitted) if moment), default=None)
        keys[participant].append(pk)
        claims[participant].append(Claim(submit_ms + (claimed or 0), opened or began, arrived))
    return {
        pk: time
        for participant, participant_claims in claims.items()
        for pk, time in zip(keys[participant], held_to_clock(participant_claims), strict=True)
    }


def by_part(parts: QuerySet[Part]) -> dict[int, int]:
    """Return the active milliseconds of each part; parts without any measured are left out."""
    # Once: the newest parts may be others a moment later.
    parts = Part.objects.filter(pk__in=list(parts.values_list("pk", flat=True)))
    rows = Assignment.objects.filter(part__in=parts.values("pk")).order_by()
    # First, or an item that is assigned at this very moment would have no time.
    part_of_assignment = list(rows.values_list("pk", "part"))
    times = by_assignment(parts.values("participant"))
    part_ms: dict[int, int] = defaultdict(int)
    for pk, part in part_of_assignment:
        part_ms[part] += times[pk].ms
    return {part: ms for part, ms in part_ms.items() if ms}
