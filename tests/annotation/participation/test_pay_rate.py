"""The time of a part by the server's clock, by hand."""

from datetime import timedelta

import pytest

from annotation.models import Answer, Assignment, Part
from annotation.participation.pay_rate import part_durations
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study


@pytest.fixture
def part(db):
    """A part of one text, opened, answered and submitted 1, 5 and 9 minutes after it began."""
    participant = participant_states.make_working(make_study(), "pid-1")
    part = Part.objects.get()
    [assignment, *_remaining] = participant_states.open_assignments(participant)
    participant_states.submit_item(assignment)
    minutes_in(part, opened_at=1, submitted_at=9)
    Answer.objects.update(created=part.began + timedelta(minutes=5))
    return part


def minutes_in(part, **moments):
    of_text = Assignment.objects.filter(answers__isnull=False)
    of_text.update(
        **{name: part.began + timedelta(minutes=minute) for name, minute in moments.items()}
    )


def minutes(part):
    duration = part_durations(Part.objects.filter(pk=part.pk)).get(part.pk)
    return duration and duration / timedelta(minutes=1)


def test_duration_runs_from_the_first_opening_to_submission(part):
    assert minutes(part) == 8


def test_opening_before_the_part_counts_from_the_answer(part):
    minutes_in(part, opened_at=-60)
    assert minutes(part) == 4


def test_event_after_the_part_is_left_out(part):
    Part.objects.update(ended=part.began + timedelta(minutes=6))
    assert minutes(part) == 4


def test_part_of_which_nothing_was_seen_has_no_time(part):
    Answer.objects.all().delete()
    Assignment.objects.update(opened_at=None, submitted_at=None)
    assert minutes(part) is None
