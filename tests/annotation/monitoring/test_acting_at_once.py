"""What staff do while people work, and two admins at once, on a real database with real threads."""

import contextlib
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment, Campaign, LogEntry, Participant, User
from annotation.monitoring import actions
from annotation.participation import assigning, entry, leaving
from annotation.task import saving
from tests import field
from tests.crowd import make_study
from tests.threads import in_threads


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=6)


@pytest.mark.django_db(transaction=True)
def test_releasing_while_answers_come_in_loses_none_and_lends_no_slot_twice():
    study = make_study(texts=4, training=0, attention_per_part=0)
    admin = User.objects.create_user("ada", role="admin")
    participants = [field.begun(study, f"pid-{number}", f"sub-{number}") for number in range(4)]
    held = [
        assignment.pk for participant in participants for assignment in field.in_hand(participant)
    ]
    keys = [(pk, uuid4()) for pk in held for _ in range(6)]

    def work(job):
        kind, value = job
        if kind == "save":
            pk, key = value
            assignment = Assignment.objects.select_related(
                "item__text", "participant__campaign__rubric", "part"
            ).get(pk=pk)
            field.answer(assignment, key=key)
        elif kind == "release":
            assignment = Assignment.objects.select_related("participant__campaign").get(pk=value)
            try:
                actions.release_item(assignment, admin)
            except leaving.ActionRefusedError:
                return
        else:
            with contextlib.suppress(entry.NoEntryError):  # all slots are held at the moment
                assigning.begin_part(field.agreed(study, value))

    jobs = []
    for index, key in enumerate(keys):
        jobs.append(("save", key))
        if index % 3 == 0:
            jobs.append(("release", key[0]))
        if index % 12 == 0:
            jobs.append(("arrive", f"pid-late-{index}"))
    in_threads(work, jobs)
    assert Answer.objects.count() == len(keys)
    assert set(Answer.objects.values_list("key", flat=True)) == {key for _, key in keys}
    for item in study.items.all():
        slots = list(item.assignments.filter(slot__isnull=False).values_list("slot", flat=True))
        assert len(slots) == len(set(slots)) <= study.raters_per_item
    assert not Assignment.objects.filter(state="released", slot__isnull=False).exists()
    assert not Assignment.objects.filter(state="open", slot=None).exists()


@pytest.mark.django_db(transaction=True)
def test_returning_while_items_are_handed_in_leaves_nothing_in_hand():
    study = make_study(texts=6, training=0, attention_per_part=0)
    admin = User.objects.create_user("ada", role="admin")
    participants = [field.begun(study, f"pid-{number}", f"sub-{number}") for number in range(6)]

    def work(job):
        kind, pk = job
        participant = Participant.objects.select_related("campaign").get(pk=pk)
        if kind == "return":
            actions.return_participant(participant, admin)
            return
        for assignment in field.in_hand(participant):
            try:
                field.hand_in(assignment)
            except saving.AnswerRefusedError:
                return

    in_threads(
        work,
        [(kind, participant.pk) for participant in participants for kind in ("hand in", "return")],
    )
    assert set(Participant.objects.values_list("outcome", flat=True)) == {"returned"}
    assert not Assignment.objects.filter(state__in=["open", "skipped"]).exists()
    assert LogEntry.objects.filter(action="returned").count() == 6


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_close_at_once_close_once():
    study = make_study(texts=2)
    admin = User.objects.create_user("ada", role="admin")

    def close(_):
        try:
            actions.set_state(study, "closed", admin)
        except leaving.ActionRefusedError:
            return 0
        return 1

    assert sum(in_threads(close, range(8))) == 1
    assert LogEntry.objects.count() == 1
