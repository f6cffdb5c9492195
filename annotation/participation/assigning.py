"""Assignment of a campaign's items to raters: k raters for each item; expiry and release.

No item goes to the same rater twice. Dealing locks the campaign's row, so one part is dealt at a
time. That is seldom (a rater takes a part for an hour), and the database refuses a slot to two
raters whatever happens here.
"""

import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify

from annotation.models import Answer, Assignment, Campaign, Item, Part, Participant, Rater, User
from annotation.participation import gold, rating_sync, repeats

TRIES = 5  # at dealing a part
HAS_SLOT = Q(assignments__slot__isnull=False)
ANSWERED = Exists(Answer.objects.filter(assignment=OuterRef("pk")))


@dataclass(frozen=True)
class Candidate:
    """An item that a participant may be given: its system, and the number of slots taken."""

    item: int
    system: str
    held: int


def rater_of(user: User) -> Rater:
    """Return the rater that an account rates as; create it the first time.

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
    """Return the rater's participation in a campaign; create it the first time.

    The seed of their order is recorded. It is another one in another campaign, or a rater of T1 and T2
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
    """Return the participant's part that is under way, else a new one with its own items.

    Items that the participant has begun, or that went back to the pool untouched and are still
    free, come before new ones. None where there is nothing (more) to do for this participant.
    """
    tries_left = TRIES
    while True:
        try:
            with transaction.atomic():
                return _begin_part(participant, study_id, session_id)
        except IntegrityError:
            # A late answer may take its item's last slot at this very moment: then deal again.
            tries_left -= 1
            if not tries_left:
                raise


def _begin_part(participant: Participant, study_id: str, session_id: str) -> Part | None:
    campaign = Campaign.objects.select_for_update().get(pk=participant.campaign_id)
    # Staff may have ended the participation, or excluded its work, while this request waited for the campaign.
    participant.refresh_from_db(fields=["outcome", "set_aside_at"])
    _expire(campaign, timezone.now())
    # Locked before the parts are read: an item may be submitted at this very moment, and end its part.
    open_assignments = participant.assignments.filter(state=Assignment.State.OPEN)
    begun = list(open_assignments.select_for_update().order_by("pk"))
    parts = list(participant.parts.all())
    if parts and not parts[-1].outcome:
        return parts[-1]
    done = [part for part in parts if part.outcome == Part.Outcome.DONE]
    if session_id and any(part.session_id == session_id for part in done):
        return None  # a submission of a platform has one part, and one pay
    has_ended = not participant.can_work
    if not campaign.assigns_work() or has_ended or len(done) == campaign.max_parts:
        return None
    n_begun = sum(
        assignment.slot is not None for assignment in begun
    )  # training and gold are not counted
    n_free = campaign.items_per_part and max(
        0 if n_begun else 1, campaign.items_per_part - n_begun - unpaid(participant)
    )
    candidates = available_items(campaign, participant)
    firsts = participant.assignments.filter(repeats=None)
    had = Counter(firsts.values_list("item__text__system", flat=True))
    number = len(parts) + 1
    order = random.Random(f"{participant.seed}:{number}")  # noqa: S311 - a recorded order
    chosen = pick(candidates, n_free, had, order)
    if not n_begun and not chosen:
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
    """Count study items submitted in unfinished parts since the last part that was done.

    The next part is smaller by these, so that the same work is paid once, however it was cut.
    """
    done = participant.parts.filter(outcome=Part.Outcome.DONE).aggregate(last=Max("number"))["last"]
    return participant.assignments.filter(
        part__number__gt=done or 0,
        part__outcome__in=[Part.Outcome.EXPIRED, Part.Outcome.RETURNED],
        state=Assignment.State.SUBMITTED,
        item__purpose=Item.Purpose.STUDY,
        repeats=None,
    ).count()


def pick(
    candidates: Iterable[Candidate],
    number: int | None,
    had: Counter[str],
    order: random.Random,
) -> list[int]:
    """Pick up to `number` items (None: all), balanced over systems, in a random order.

    The system of which the participant has had least comes next. Within a system, the item with
    most slots taken comes first: a study that ends early then has whole items to compare.
    """
    by_system: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_system[candidate.system].append(candidate)
    for system_candidates in by_system.values():
        order.shuffle(system_candidates)
        system_candidates.sort(key=lambda candidate: candidate.held)  # the last is taken first
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


def available_items(campaign: Campaign, participant: Participant) -> list[Candidate]:
    """List free items that this participant has not had, or gave back untouched.

    An item is free with a slot that nobody holds. One that they skipped is for others.
    """
    had = participant.assignments.exclude(state=Assignment.State.RELEASED, was_skipped=False)
    free = (
        campaign.items.filter(purpose=Item.Purpose.STUDY)
        .exclude(pk__in=had.values("item"))
        .annotate(held=Count("assignments", filter=HAS_SLOT))
        .filter(held__lt=campaign.raters_per_item)
        .order_by("position")
    )
    return [Candidate(*row) for row in free.values_list("pk", "text__system", "held")]


def _assign(campaign: Campaign, part: Part, chosen: list[int], order: random.Random) -> None:
    """Create the assignments of a part: training, then chosen items, hidden gold and repeats."""
    participant = part.participant
    assignments = list(participant.assignments.all())
    assignment_of_item = {row.item_id: row for row in assignments if not row.repeats_id}
    repeat_of_item = {row.item_id: row for row in assignments if row.repeats_id}
    had = [
        item
        for item, assignment in assignment_of_item.items()
        if assignment.state != Assignment.State.RELEASED
    ]
    extra = campaign.items.exclude(pk__in=had)
    training = [item.pk for item in extra.filter(purpose=Item.Purpose.TRAINING)]
    queue = list(chosen)
    for item in gold_due(campaign, participant):
        queue.insert(order.randint(0, len(queue)), item)
    checks = _draw_attention_checks(campaign, part, queue, order)
    slots = _free_slots(chosen, campaign.raters_per_item)
    entries = [
        *map(repeats.QueueEntry, training),
        *_with_repeats(campaign, queue, chosen, repeat_of_item, order),
    ]
    first_position = max((row.position for row in assignments), default=-1) + 1
    new: list[Assignment] = []
    new_repeats: list[Assignment] = []
    reassigned: list[Assignment] = []
    for position, (item, is_repeat) in enumerate(entries, start=first_position):
        earlier = (repeat_of_item if is_repeat else assignment_of_item).get(item)
        assignment = earlier or Assignment(participant=participant, item_id=item)
        if earlier:
            reassigned.append(assignment)
        else:
            (new_repeats if is_repeat else new).append(assignment)
        assignment.part, assignment.position = part, position
        assignment.slot = None if is_repeat else slots.get(item)
        assignment.state, assignment.was_skipped = Assignment.State.OPEN, False
        assignment.check_asked_id = None if is_repeat else checks.get(item)
    changed = ["part", "position", "slot", "state", "was_skipped", "check_asked"]
    Assignment.objects.bulk_create(new)
    assignment_of_item |= {row.item_id: row for row in new}
    for repeat in new_repeats:
        repeat.repeats = assignment_of_item[repeat.item_id]
    Assignment.objects.bulk_create(new_repeats)
    Assignment.objects.bulk_update(reassigned, changed)
    for assignment in reassigned:
        rating_sync.restore_answers(assignment)


def _with_repeats(
    campaign: Campaign,
    queue: list[int],
    chosen: list[int],
    repeat_of_item: Mapping[int, Assignment],
    order: random.Random,
) -> list[repeats.QueueEntry]:
    """Return the entries of a part with its repeats, of chosen items that have no active one."""
    n = repeats.repeats_due(len(chosen), campaign.repeat_percent, campaign.repeat_after)
    if not n:
        return [*map(repeats.QueueEntry, queue)]
    candidates = {
        item
        for item in chosen
        if item not in repeat_of_item or repeat_of_item[item].state == Assignment.State.RELEASED
    }
    return repeats.insert(queue, candidates, n, campaign.repeat_after or 0, order)


def gold_due(campaign: Campaign, participant: Participant) -> list[int]:
    """List the gold items of a participant's next part, in an order of their own.

    Open ones of a part that ended go into it as well, and are none of these.
    """
    of_purpose: dict[str, list[int]] = {purpose.value: [] for purpose in Item.Purpose}
    for item, purpose in campaign.items.order_by("position").values_list("pk", "purpose"):
        of_purpose[purpose].append(item)
    gold_items = of_purpose[Item.Purpose.GOLD]
    if not gold_items:
        return []
    unreleased = participant.assignments.exclude(state=Assignment.State.RELEASED)
    had = set(unreleased.filter(item__purpose=Item.Purpose.GOLD).values_list("item", flat=True))
    n_gold = gold.terms(
        n_gold=len(gold_items),
        per_person=campaign.gold_per_person,
        items=len(of_purpose[Item.Purpose.STUDY]),
        items_per_part=campaign.items_per_part,
        max_parts=campaign.max_parts,
    ).n_new(participant.parts_done() + 1, len(had))
    return gold.next_items(participant.seed, gold_items, had, n_gold)


def _draw_attention_checks(
    campaign: Campaign, part: Part, items: list[int], order: random.Random
) -> dict[int, int]:
    """Draw the items (hidden gold among them) that carry an attention check: item to check.

    A check comes again in a later part.
    """
    checks = list(campaign.attention_checks.values_list("pk", flat=True))
    if not checks:
        return {}
    bearers = order.sample(items, min(campaign.attention_per_part, len(items)))
    first = (part.number - 1) * campaign.attention_per_part
    return {item: checks[(first + index) % len(checks)] for index, item in enumerate(bearers)}


def _free_slots(items: list[int], k: int) -> dict[int, int]:
    """Return the lowest free slot of each item's k slots.

    Raises IntegrityError, as the database does, where the last was taken since the items were
    chosen: the caller then deals again.
    """
    taken_slots: dict[int, set[int]] = defaultdict(set)
    assigned = Assignment.objects.filter(item__in=items, slot__isnull=False)
    for item, slot in assigned.values_list("item_id", "slot"):
        if slot is not None:
            taken_slots[item].add(slot)
    free = {item: [slot for slot in range(k) if slot not in taken_slots[item]] for item in items}
    if not all(free.values()):
        raise IntegrityError("An item's last slot was taken up meanwhile.")
    return {item: slots[0] for item, slots in free.items()}


def late_reason(assignment: Assignment) -> Answer.Late:
    """Return the reason for which an answer to an item does not count now; NO where it does.

    In a transaction. `state` and `slot` are those of the locked row; the participant is read again,
    as the work may have been excluded since. An item that lost its slot takes one if one is free: a
    released one is open again, a submitted one stays submitted. Practice and gold need none.
    """
    if assignment.slot is not None:
        return Answer.Late.NO
    participant = Participant.objects.get(pk=assignment.participant_id)
    reason = Answer.Late.EXCLUDED if participant.set_aside_at else Answer.Late.RETURNED
    is_released = assignment.state == Assignment.State.RELEASED
    is_submitted = assignment.state == Assignment.State.SUBMITTED
    if not is_released and not (is_submitted and assignment.needs_slot):
        return reason if participant.set_aside_at else Answer.Late.NO
    state = Assignment.State.OPEN if is_released else Assignment.State.SUBMITTED
    if not participant.can_work or not _take_slot(assignment, state):
        return reason
    rating_sync.restore_answers(assignment)
    return Answer.Late.NO


def retake(assignment: Assignment) -> bool:
    """Assign a released item again to its participant if a slot is free. In a transaction."""
    return late_reason(assignment) == Answer.Late.NO


def restore_item(assignment: Assignment) -> bool:
    """Restore an excluded item if a slot is free: its answers count again. In a transaction."""
    if not _take_slot(assignment, Assignment.State.SUBMITTED):
        return False
    rating_sync.restore_answers(assignment, Answer.Late.EXCLUDED)
    return True


def _take_slot(assignment: Assignment, state: Assignment.State) -> bool:
    """Take a free slot for an assignment without one, and set its state; False if full.

    A repeat needs none, and comes back only after its first.
    """
    if assignment.repeats and assignment.repeats.state == Assignment.State.RELEASED:
        return False
    item, state_before = assignment.item, assignment.state
    taken_slots = set(item.assignments.filter(slot__isnull=False).values_list("slot", flat=True))
    free_slots = set(range(assignment.participant.campaign.raters_per_item)) - taken_slots
    needs_slot = assignment.needs_slot
    if needs_slot and not free_slots:
        return False
    try:
        with transaction.atomic():
            assignment.slot = min(free_slots) if needs_slot else None
            assignment.state = state
            assignment.save(update_fields=["slot", "state"])
    except IntegrityError:  # somebody else was handed that slot just now
        assignment.slot, assignment.state = None, state_before
        return False
    return True


@transaction.atomic
def expire(campaign: Campaign, at: datetime | None = None) -> int:
    """End overdue parts and release their items; return the number of released items.

    Untouched items return to the pool at once; items that were begun do some hours later, in campaigns with
    such a lease.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    return _expire(campaign, at or timezone.now())


def _expire(campaign: Campaign, at: datetime) -> int:
    overdue = Part.objects.filter(participant__campaign=campaign, outcome="", expires__lte=at)
    ended = list(overdue.values_list("pk", flat=True))
    n = 0
    if ended:
        Part.objects.filter(pk__in=ended).update(outcome=Part.Outcome.EXPIRED, ended=F("expires"))
        n = release_untouched(Assignment.objects.filter(part__in=ended))
    if campaign.begun_lease_hours is not None:
        before = at - timedelta(hours=campaign.begun_lease_hours)
        n += release_begun(abandoned(campaign).filter(part__began__lte=before))
    return n


def abandoned(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the assignments of expired parts that were begun and not submitted."""
    return Assignment.objects.filter(
        part__participant__campaign=campaign,
        part__outcome=Part.Outcome.EXPIRED,
        state__in=[Assignment.State.OPEN, Assignment.State.SKIPPED],
    )


def release_begun(assignments: QuerySet[Assignment]) -> int:
    """Release these items, answered or not, and return their number. In a transaction.

    Their answers stay and no longer count, since others may take the slots; they count again where
    the participant takes an item again while it has a free slot. Repeats go with their first.
    """
    locked_keys = list(
        assignments.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True)
    )
    repeated = Assignment.objects.filter(
        repeats__in=locked_keys, state__in=[Assignment.State.OPEN, Assignment.State.SKIPPED]
    )
    locked_repeats = repeated.exclude(pk__in=locked_keys).select_for_update(of=("self",))
    locked_keys += locked_repeats.order_by("pk").values_list("pk", flat=True)
    rating_sync.exclude_answers(locked_keys)
    released = Assignment.objects.filter(pk__in=locked_keys)
    return released.update(state=Assignment.State.RELEASED, slot=None)


def release_untouched(assignments: QuerySet[Assignment]) -> int:
    """Release the items that have no answer and were not submitted; return their number.

    In a transaction. The rows are locked before their answers are looked for, or an answer
    could come in between. A repeat takes nothing from others: it goes only with its first.
    """
    unsubmitted = assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.SKIPPED])
    locked_keys = list(unsubmitted.select_for_update().order_by("pk").values_list("pk", flat=True))
    untouched = Assignment.objects.filter(~ANSWERED, pk__in=locked_keys, repeats=None)
    return release_begun(untouched)
