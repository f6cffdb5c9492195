"""The time of a part by the server's clock, by hand."""

from datetime import timedelta

import pytest

from annotation.models import Answer, Assignment, Part
from annotation.participation.earnings import clock
from tests import field
from tests.crowd import make_study


@pytest.fixture
def part(db):
    """Of one text that was looked at, answered and handed in 1, 5 and 9 minutes after it began."""
    participant = field.begun(make_study(), "pid-1")
    part = Part.objects.get()
    [assignment, *_others] = field.in_hand(participant)
    field.hand_in(assignment)
    minutes_in(part, opened_at=1, submitted_at=9)
    Answer.objects.update(created=part.began + timedelta(minutes=5))
    return part


def minutes_in(part, **moments):
    of_text = Assignment.objects.filter(answers__isnull=False)
    of_text.update(
        **{name: part.began + timedelta(minutes=minute) for name, minute in moments.items()}
    )


def minutes(part):
    spent = clock(Part.objects.filter(pk=part.pk)).get(part.pk)
    return spent and spent / timedelta(minutes=1)


def test_it_runs_from_the_first_look_to_handing_in(part):
    assert minutes(part) == 8


def test_what_was_looked_at_before_the_part_began_counts_from_its_answer(part):
    minutes_in(part, opened_at=-60)
    assert minutes(part) == 4


def test_what_came_after_the_part_ended_is_no_time_of_it(part):
    Part.objects.update(ended=part.began + timedelta(minutes=6))
    assert minutes(part) == 4


def test_a_part_of_which_nothing_was_seen_has_no_time(part):
    Answer.objects.all().delete()
    Assignment.objects.update(opened_at=None, submitted_at=None)
    assert minutes(part) is None
