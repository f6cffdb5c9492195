"""Working time left in a part: the person's own pace, the stated minutes, or nothing."""

import pytest
from django.test import Client

from annotation.models import Answer, Assignment, Campaign
from annotation.participation.time_left import minutes_left, round_minutes
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import Walker, make_study


@pytest.fixture
def walker(db):
    """Somebody in a part of six texts, after practice."""
    walker = Walker(Client(), make_study(items_per_part=6, attention_per_part=0))
    walker.prepare()
    walker.begin()
    return walker


def submit(walker, n: int, ms: int) -> None:
    """Submit texts with two questions and so many milliseconds for each, and for submitting."""
    for assignment in participant_states.open_assignments(walker.participant)[:n]:
        participant_states.submit_item(assignment, ms=ms)


def estimate(walker) -> int | None:
    return minutes_left(walker.participant.parts.get())


def test_stated_minutes_count_until_three_texts_are_measured(walker):
    assert estimate(walker) == 35  # six texts and practice, of 30 minutes for six texts
    submit(walker, 1, 60_000)
    assert estimate(walker) == 30
    submit(walker, 2, 20_000)
    assert estimate(walker) == 20
    submit(walker, 1, 20_000)  # a minute a text now, practice left out
    assert estimate(walker) == 3
    page = text_of_page(walker.client.get(ROOM))
    assert "About 3 minutes left in this part." in page
    item = walker.in_hand()[0]
    task = walker.client.get(f"/work/{item.pk}/").content.decode()
    assert "About 3 minutes left in this part." in task


def test_unmeasured_texts_are_no_pace(walker):
    submit(walker, 4, 20_000)
    Answer.objects.update(active_ms=0)
    Assignment.objects.update(active_ms=0)
    assert estimate(walker) == 15  # as stated
    Campaign.objects.update(minutes_per_part=None)
    walker.campaign.refresh_from_db()
    assert estimate(walker) is None
    assert "left in this part" not in text_of_page(walker.client.get(ROOM))


def test_part_that_cannot_be_finished_or_has_nothing_open_has_none(walker):
    part = walker.participant.parts.get()
    part.outcome = "returned"
    assert minutes_left(part) is None
    assert minutes_left(None) is None
    walker.participant.assignments.update(state="skipped")
    assert estimate(walker) is None


@pytest.mark.parametrize(
    ("minutes", "rounded"),
    [(0.2, 1), (1.4, 1), (1.5, 2), (9.4, 9), (12.4, 10), (12.5, 15), (58, 60), (67, 60), (70, 75)],
)
def test_minutes_are_rounded_more_the_more_there_are(minutes, rounded):
    assert round_minutes(minutes) == rounded
