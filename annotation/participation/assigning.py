"""Assigning the items of a campaign: each to k raters and never twice to one; taking them back.

Who hands out holds the campaign's row, so one part is dealt at a time. That is seldom (a rater
takes a part for an hour), and the database refuses a slot to two raters whatever happens here.
"""

import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify

from annotation.models import Answer, Assignment, Campaign, Item, Part, Participant, Rater, User
from annotation.participation import counting, gold

TRIES = 5  # at dealing a part
HELD = Q(assignments__slot__isnull=False)
ANSWERED = Exists(Answer.objects.filter(assignment=OuterRef("pk")))


@dataclass(frozen=True)
class Candidate:
    """An item that a participant may be given: its system, and how many raters hold it already."""

    item: int
    system: str
    held: int


def rater_of(user: User) -> Rater:
    """The rater that an account rates as, made the first time.

    Its name goes into the names of files, so it is a slug; another rater may have that already.
    """
    name = base = slugify(user.username) or "rater"
    number = 1
    while True:
        if rater := Rater.objects.filter(user=user).first():
            return rater
        try:
            with transaction.atomic():
                return Rater.objects.create(user=user, name=name, kind=Rater.Kind.HUMAN)
        except IntegrityError:  # the name is taken, or another request has made this very rater
            number += 1
            name = f"{base}-{number}"


def invite(
    campaign: Campaign,
    rater: Rater,
    source: str = Participant.Source.ACCOUNT,
    external_id: str = "",
) -> Participant:
    """The rater's participation in a campaign, made the first time.

    The seed of their order is recorded. It is another one in another campaign, or who does T1 and T2
    would meet the same texts in the same order.
    """
    participant, _ = Participant.objects.get_or_create(
        campaign=campaign,
        rater=rater,
        defaults={
            "source": source,
            "external_id": external_id,
            "seed": zlib.crc32(f"{campaign.seed}:{campaign.slug}:{rater.name}".encode())
            & 0x7FFFFFFF,
        },
    )
    return participant


def begin_part(
    participant: Participant, *, study_id: str = "", session_id: str = ""
) -> Part | None:
    """The participant's part that is under way, else a new one with items of its own.

    Items that the participant has begun, or that went back to the pool untouched and are still
    free, come before new ones. None where there is nothing (more) to do for this participant.
    """
    tries_left = TRIES
    while True:
        try:
            with transaction.atomic():
                return _begin_part(participant, study_id, session_id)
        except IntegrityError:
            # A late answer may take up its item's last slot at this very moment: then deal again.
            tries_left -= 1
            if not tries_left:
                raise


def _begin_part(participant: Participant, study_id: str, session_id: str) -> Part | None:
    campaign = Campaign.objects.select_for_update().get(pk=participant.campaign_id)
    # Staff may have ended the participation, or excluded its work, while this request waited for the campaign.
    participant.refresh_from_db(fields=["outcome", "set_aside_at"])
    _expire(campaign, timezone.now())
    # Held, and before the parts are read: one of them may be handed in at this very moment, and end its part.
    in_hand_now = participant.assignments.filter(state=Assignment.State.OPEN)
    begun = list(in_hand_now.select_for_update().order_by("pk"))
    parts = list(participant.parts.all())
    if parts and not parts[-1].outcome:
        return parts[-1]
    done = sum(part.outcome == Part.Outcome.DONE for part in parts)
    is_over = not participant.goes_on
    if not campaign.hands_out() or is_over or done == campaign.max_parts:
        return None
    in_hand = sum(
        assignment.slot is not None for assignment in begun
    )  # training and gold are not counted
    room = campaign.items_per_part and max(
        0 if in_hand else 1, campaign.items_per_part - in_hand - unpaid(participant)
    )
    candidates = left_for(campaign, participant)
    had = Counter(participant.assignments.values_list("item__text__system", flat=True))
    number = len(parts) + 1
    order = random.Random(f"{participant.seed}:{number}")  # noqa: S311 - a recorded order
    chosen = pick(candidates, room, had, order)
    if not in_hand and not chosen:
        return None
    lease = campaign.lease_hours and timedelta(hours=campaign.lease_hours)
    part = Part.objects.create(
        participant=participant,
        number=number,
        study_id=study_id,
        session_id=session_id,
        expires=timezone.now() + lease if lease else None,
    )
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in begun]).update(part=part)
    _assign(campaign, part, chosen, order)
    if participant.outcome:
        participant.outcome = Participant.Outcome.UNDER_WAY
        participant.save(update_fields=["outcome"])
    return part


def unpaid(participant: Participant) -> int:
    """How many study items were handed in, in parts that ended unfinished, since the last that was done.

    The next part is smaller by these, so that the same work is paid once, however it was cut.
    """
    done = participant.parts.filter(outcome=Part.Outcome.DONE).aggregate(last=Max("number"))["last"]
    return participant.assignments.filter(
        part__number__gt=done or 0,
        part__outcome__in=[Part.Outcome.EXPIRED, Part.Outcome.RETURNED],
        state=Assignment.State.SUBMITTED,
        item__purpose=Item.Purpose.STUDY,
    ).count()


def pick(
    candidates: Iterable[Candidate],
    number: int | None,
    had: Counter[str],
    order: random.Random,
) -> list[int]:
    """Up to `number` items (None: all), balanced over systems, in a random order.

    The system of which the participant has had least comes next. Within a system, the item that
    most raters hold already comes first: a study that ends early then has whole items to compare.
    """
    by_system: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_system[candidate.system].append(candidate)
    for waiting in by_system.values():
        order.shuffle(waiting)
        waiting.sort(key=lambda candidate: candidate.held)  # the last is taken first
    had = Counter(had)
    tie = {system: order.random() for system in sorted(by_system)}
    chosen: list[int] = []
    while by_system and (number is None or len(chosen) < number):
        system = min(by_system, key=lambda name: (had[name], tie[name]))
        chosen.append(by_system[system].pop().item)
        had[system] += 1
        if not by_system[system]:
            del by_system[system]
    order.shuffle(chosen)
    return chosen


def left_for(campaign: Campaign, participant: Participant) -> list[Candidate]:
    """The items with a free slot that this participant has not had, or gave back untouched.

    One that they skipped is for others.
    """
    had = participant.assignments.exclude(state=Assignment.State.RELEASED, was_skipped=False)
    free = (
        campaign.items.filter(purpose=Item.Purpose.STUDY)
        .exclude(pk__in=had.values("item"))
        .annotate(held=Count("assignments", filter=HELD))
        .filter(held__lt=campaign.raters_per_item)
        .order_by("position")
    )
    return [Candidate(*row) for row in free.values_list("pk", "text__system", "held")]


def _assign(campaign: Campaign, part: Part, chosen: list[int], order: random.Random) -> None:
    """Make the assignments of a part: training first, then the chosen items and hidden gold."""
    participant = part.participant
    mine = {assignment.item_id: assignment for assignment in participant.assignments.all()}
    had = [
        item for item, assignment in mine.items() if assignment.state != Assignment.State.RELEASED
    ]
    extra = campaign.items.exclude(pk__in=had)
    training = [item.pk for item in extra.filter(purpose=Item.Purpose.TRAINING)]
    queue = list(chosen)
    for item in gold_due(campaign, participant):
        queue.insert(order.randint(0, len(queue)), item)
    checks = _attention(campaign, part, queue, order)
    slots = _free_slots(chosen, campaign.raters_per_item)
    position = max((assignment.position for assignment in mine.values()), default=-1)
    new: list[Assignment] = []
    again: list[Assignment] = []
    for item in [*training, *queue]:
        position += 1
        assignment = mine.get(item) or Assignment(participant=participant, item_id=item)
        (again if item in mine else new).append(assignment)
        assignment.part, assignment.position, assignment.slot = part, position, slots.get(item)
        assignment.state, assignment.was_skipped = Assignment.State.OPEN, False
        assignment.check_asked_id = checks.get(item)
    changed = ["part", "position", "slot", "state", "was_skipped", "check_asked"]
    Assignment.objects.bulk_create(new)
    Assignment.objects.bulk_update(again, changed)
    for assignment in again:
        counting.count_again(assignment)


def gold_due(campaign: Campaign, participant: Participant) -> list[int]:
    """The gold texts that come into the next part of a participant, in an order of their own.

    Those in hand, of a part that ended, go into it as well, and are none of these.
    """
    of_purpose: dict[str, list[int]] = {purpose.value: [] for purpose in Item.Purpose}
    for item, purpose in campaign.items.order_by("position").values_list("pk", "purpose"):
        of_purpose[purpose].append(item)
    drawn = of_purpose[Item.Purpose.GOLD]
    if not drawn:
        return []
    kept = participant.assignments.exclude(state=Assignment.State.RELEASED)
    had = set(kept.filter(item__purpose=Item.Purpose.GOLD).values_list("item", flat=True))
    due = gold.terms(
        drawn=len(drawn),
        per_person=campaign.gold_per_person,
        items=len(of_purpose[Item.Purpose.STUDY]),
        items_per_part=campaign.items_per_part,
        max_parts=campaign.max_parts,
    ).due(participant.parts_done() + 1, len(had))
    return gold.next_of(participant.seed, drawn, had, due)


def _attention(
    campaign: Campaign, part: Part, items: list[int], order: random.Random
) -> dict[int, int]:
    """Which of these items, hidden gold among them, ask which attention check.

    A check comes again in a later part.
    """
    checks = list(campaign.attention_checks.values_list("pk", flat=True))
    if not checks:
        return {}
    bearers = order.sample(items, min(campaign.attention_per_part, len(items)))
    first = (part.number - 1) * campaign.attention_per_part
    return {item: checks[(first + index) % len(checks)] for index, item in enumerate(bearers)}


def _free_slots(items: list[int], k: int) -> dict[int, int]:
    """For each item the lowest of its k slots that nobody holds.

    Raises IntegrityError, as the database does, where the last was taken up since the items were
    chosen: whoever deals then deals again.
    """
    taken: dict[int, set[int]] = defaultdict(set)
    held = Assignment.objects.filter(item__in=items, slot__isnull=False)
    for item, slot in held.values_list("item_id", "slot"):
        if slot is not None:
            taken[item].add(slot)
    free = {item: [slot for slot in range(k) if slot not in taken[item]] for item in items}
    if not all(free.values()):
        raise IntegrityError("An item's last slot was taken up meanwhile.")
    return {item: slots[0] for item, slots in free.items()}


def why_late(assignment: Assignment) -> Answer.Late:
    """Why what is said of an item does not count now; NO where it does. In a transaction.

    `state` and `slot` are those of the held row; who takes part is read anew, as the work may have been
    set aside since. An item that lost its place takes one up if one is free: a released one is open
    again, one that was handed in stays handed in. Practice and gold need none.
    """
    if assignment.slot is not None:
        return Answer.Late.NO
    participant = Participant.objects.get(pk=assignment.participant_id)
    why = Answer.Late.SET_ASIDE if participant.set_aside_at else Answer.Late.TAKEN_BACK
    is_released = assignment.state == Assignment.State.RELEASED
    is_submitted = assignment.state == Assignment.State.SUBMITTED
    if not is_released and not (is_submitted and assignment.item.purpose == Item.Purpose.STUDY):
        return why if participant.set_aside_at else Answer.Late.NO
    state = Assignment.State.OPEN if is_released else Assignment.State.SUBMITTED
    if not participant.goes_on or not _take_slot(assignment, state):
        return why
    counting.count_again(assignment)
    return Answer.Late.NO


def retake(assignment: Assignment) -> bool:
    """Take a released item up again for the participant who had it, if a slot is free. In a transaction."""
    return why_late(assignment) == Answer.Late.NO


def take_place(assignment: Assignment) -> bool:
    """Undo that an item was set aside, if a slot is free: what counted counts again. In a transaction."""
    if not _take_slot(assignment, Assignment.State.SUBMITTED):
        return False
    counting.count_again(assignment, Answer.Late.SET_ASIDE)
    return True


def _take_slot(assignment: Assignment, state: Assignment.State) -> bool:
    """Put an assignment without a slot into a state that holds one, where one is free."""
    item, before = assignment.item, assignment.state
    held = set(item.assignments.filter(slot__isnull=False).values_list("slot", flat=True))
    free = set(range(assignment.participant.campaign.raters_per_item)) - held
    needs_slot = item.purpose == Item.Purpose.STUDY
    if needs_slot and not free:
        return False
    try:
        with transaction.atomic():
            assignment.slot = min(free) if needs_slot else None
            assignment.state = state
            assignment.save(update_fields=["slot", "state"])
    except IntegrityError:  # somebody else was handed that slot just now
        assignment.slot, assignment.state = None, before
        return False
    return True


@transaction.atomic
def expire(campaign: Campaign, now: datetime | None = None) -> int:
    """End the parts whose time is over: what is untouched returns to the pool, and where the campaign
    says so what was begun does too, some hours later.

    Returns how many items came back.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    return _expire(campaign, now or timezone.now())


def _expire(campaign: Campaign, now: datetime) -> int:
    overdue = Part.objects.filter(participant__campaign=campaign, outcome="", expires__lte=now)
    ended = list(overdue.values_list("pk", flat=True))
    n = 0
    if ended:
        Part.objects.filter(pk__in=ended).update(outcome=Part.Outcome.EXPIRED, ended=F("expires"))
        n = release_untouched(Assignment.objects.filter(part__in=ended))
    if campaign.begun_lease_hours is not None:
        before = now - timedelta(hours=campaign.begun_lease_hours)
        n += release_begun(abandoned(campaign).filter(part__began__lte=before))
    return n


def abandoned(campaign: Campaign) -> QuerySet[Assignment]:
    """What is still in somebody's hand of parts whose time ran out: begun, and not handed in."""
    return Assignment.objects.filter(
        part__participant__campaign=campaign,
        part__outcome=Part.Outcome.EXPIRED,
        state__in=[Assignment.State.OPEN, Assignment.State.SKIPPED],
    )


def release_begun(assignments: QuerySet[Assignment]) -> int:
    """Give back the slots of these items, answered or not. In a transaction.

    Their answers stay and count no more, since others may take their places; they count again where
    the participant takes an item up while it has one.
    """
    held = list(
        assignments.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True)
    )
    counting.withdraw(held)
    released = Assignment.objects.filter(pk__in=held)
    return released.update(state=Assignment.State.RELEASED, slot=None)


def release_untouched(assignments: QuerySet[Assignment]) -> int:
    """Give back the slots of the items among these that nobody has answered or handed in.

    In a transaction. The rows are held before it is asked whether they have answers, or an answer
    could come in between.
    """
    waiting = assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.SKIPPED])
    held = list(waiting.select_for_update().order_by("pk").values_list("pk", flat=True))
    untouched = Assignment.objects.filter(~ANSWERED, pk__in=held)
    return untouched.update(state=Assignment.State.RELEASED, slot=None)
