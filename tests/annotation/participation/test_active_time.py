"""Active time as browsers claim it and as the server's clock allows it, by hand."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Answer, Assignment, Part
from annotation.monitoring import participants
from annotation.monitoring.part_records import list_part_records
from annotation.participation import active_time
from annotation.participation.active_time import Claim, held_to_clock
from tests.toolbox import participant_states
from tests.toolbox.participant_states import open_assignments, submit_item
from tests.toolbox.prolific_study import Walker, make_study

MINUTE = 60_000


def claim(minutes, opened, arrived):
    """Return a claim of minutes, opened and last active so many minutes after noon."""
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    opened, arrived = (
        None if at is None else noon + timedelta(minutes=at) for at in (opened, arrived)
    )
    return Claim(round(minutes * MINUTE), opened, arrived)


@pytest.mark.parametrize(
    ("claims", "minutes", "excess"),
    [
        ([], [], []),
        # As much as there was, or less: it counts as it is.
        ([claim(3, 0, 5), claim(2, 5, 7)], [3, 2], [0, 0]),
        # Six answers that waited offline and came in one second, an hour after the page was opened.
        ([claim(55, 0, 60)], [55], [0]),
        # 26 minutes in none.
        ([claim(26, 10, 10)], [0], [26]),
        ([claim(26, 10, 12), claim(1, 12, 14)], [2, 1], [24, 0]),
        # Two windows side by side, both counting: 10 minutes are 10, and nobody is accused.
        ([claim(10, 0, 10), claim(8, 0, 10)], [10 * 10 / 18, 8 * 10 / 18], [0, 0]),
        # Four texts opened at once, each said to be 10 minutes of the same 10: 20 beyond twice the clock.
        ([claim(10, 0, 10)] * 4, [2.5] * 4, [5] * 4),
        # Overlapping by twos: 0 to 15 is one stretch of 15 minutes.
        ([claim(9, 0, 10), claim(9, 5, 15)], [7.5, 7.5], [0, 0]),
        # What is not known holds nobody to anything.
        ([claim(30, None, 5), claim(30, 5, None)], [30, 30], [0, 0]),
        # A server's clock that was set back.
        ([claim(1, 5, 4)], [0], [1]),
    ],
)
def test_active_time_is_capped_by_the_clock(claims, minutes, excess):
    times = held_to_clock(claims)
    assert [time.ms for time in times] == [int(n * MINUTE) for n in minutes]
    assert [time.excess_ms for time in times] == [int(n * MINUTE) for n in excess]


@pytest.fixture
def part(db, fake_clock):
    """A part of two texts, begun an hour ago; the page of neither was shown by a browser."""
    participant = participant_states.make_working(make_study(training=0), "pid-a", "sub-a")
    Part.objects.update(began=timezone.now() - timedelta(hours=1))
    return participant.parts.get()


def test_active_time_is_the_same_for_all_readers(part):
    """26 minutes for what took no time at all, and 2 minutes that there were."""
    first, second = open_assignments(part.participant)
    submit_item(first, ms=26 * MINUTE)
    submit_item(second, ms=MINUTE // 2)
    Assignment.objects.filter(pk=first.pk).update(opened_at=timezone.now())
    n_answers = (
        second.item.asked.count() + bool(second.check_asked) + 1
    )  # and once as it is submitted
    honest = n_answers * MINUTE // 2
    claimed = (first.item.asked.count() + bool(first.check_asked) + 1) * 26 * MINUTE

    times = active_time.by_assignment([part.participant_id])
    assert (times[first.pk].ms, times[second.pk].ms) == (0, honest)
    assert times[first.pk].excess_ms == claimed
    assert active_time.by_part(Part.objects.all()) == {part.pk: honest}
    (row,) = participants.rows(part.participant.campaign.participants.with_status())
    assert row.active_ms == honest
    (ours,) = list_part_records(part.participant.campaign)
    assert ours.active_ms == honest
    # What was sent stays as it was sent.
    assert Answer.objects.filter(assignment=first, active_ms=26 * MINUTE).exists()


def test_without_a_known_opening_the_beginning_of_the_first_part_holds(part):
    first, second = open_assignments(part.participant)
    submit_item(first, ms=10 * MINUTE)
    Assignment.objects.update(opened_at=None)
    claimed = (first.item.asked.count() + bool(first.check_asked) + 1) * 10 * MINUTE
    assert active_time.by_assignment([part.participant_id])[first.pk].ms == claimed
    Part.objects.update(began=timezone.now() - timedelta(minutes=5))
    assert active_time.by_assignment([part.participant_id])[first.pk].ms == 5 * MINUTE
    assert active_time.by_assignment([part.participant_id])[second.pk].ms == 0
    Assignment.objects.update(part=None)
    Part.objects.all().delete()
    assert active_time.by_assignment([part.participant_id])[first.pk].ms == claimed


def test_first_opening_of_a_page_is_recorded_once(client, db):
    walker = Walker(client, make_study(training=0))
    walker.prepare()
    walker.begin()  # leads to the first text
    first, second = walker.in_hand()
    assert first.opened_at is not None
    assert second.opened_at is None
    client.get(first.get_absolute_url())
    assert walker.in_hand()[0].opened_at == first.opened_at
    # An answer without a look, and a look afterwards: when it was opened nobody knows.
    item_question = second.item.asked.first()
    client.post(
        f"/work/{second.pk}/answers/{item_question.question_id}/",
        {"key": uuid4(), "grade": 0, "spans": "[]"},
    )
    client.get(second.get_absolute_url())
    assert walker.in_hand()[1].opened_at is None


def test_page_view_by_another_person_is_no_opening(client, db):
    walker = Walker(client, make_study(training=0))
    walker.prepare()
    walker.begin()
    _, second = walker.in_hand()
    assert Client().get(second.get_absolute_url()).status_code == 302
    assert walker.in_hand()[1].opened_at is None
