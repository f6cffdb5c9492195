"""Staff actions while people work, and concurrent admins, with real threads and database."""

import contextlib
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment, Campaign, LogEntry, Participant, User
from annotation.monitoring import actions
from annotation.participation import assigning, entry, withdrawal
from annotation.task import saving
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study
from tests.toolbox.threads import in_threads


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=6)


@pytest.mark.django_db(transaction=True)
def test_releasing_while_answers_come_in_loses_none_and_lends_no_slot_twice():
    study = make_study(texts=4, training=0, attention_per_part=0)
    admin = User.objects.create_user("ada", role="admin")
    participants = [
        participant_states.make_working(study, f"pid-{number}", f"sub-{number}")
        for number in range(4)
    ]
    assigned = [
        assignment.pk
        for participant in participants
        for assignment in participant_states.open_assignments(participant)
    ]
    keys = [(pk, uuid4()) for pk in assigned for _ in range(6)]

    def work(job):
        kind, value = job
        if kind == "save":
            pk, key = value
            assignment = Assignment.objects.select_related(
                "item__text", "participant__campaign__rubric", "part"
            ).get(pk=pk)
            participant_states.answer(assignment, key=key)
        elif kind == "release":
            assignment = Assignment.objects.select_related("participant__campaign").get(pk=value)
            try:
                actions.release_item(assignment, admin)
            except withdrawal.ParticipationError:
                return
        else:
            with contextlib.suppress(entry.EntryError):  # all slots are held at the moment
                assigning.begin_part(participant_states.make_consented(study, value))

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
def test_concurrent_return_and_submission_leave_no_open_item():
    study = make_study(texts=6, training=0, attention_per_part=0)
    admin = User.objects.create_user("ada", role="admin")
    participants = [
        participant_states.make_working(study, f"pid-{number}", f"sub-{number}")
        for number in range(6)
    ]

    def work(job):
        kind, pk = job
        participant = Participant.objects.select_related("campaign").get(pk=pk)
        if kind == "return":
            actions.return_participant(participant, admin)
            return
        for assignment in participant_states.open_assignments(participant):
            try:
                participant_states.submit_item(assignment)
            except saving.AnswerError:
                return

    in_threads(
        work,
        [(kind, participant.pk) for participant in participants for kind in ("submit", "return")],
    )
    assert set(Participant.objects.values_list("outcome", flat=True)) == {"returned"}
    assert not Assignment.objects.filter(state__in=["open", "skipped"]).exists()
    assert LogEntry.objects.filter(action="returned").count() == 6


@pytest.mark.django_db(transaction=True)
def test_concurrent_close_by_admins_is_logged_once():
    study = make_study(texts=2)
    admin = User.objects.create_user("ada", role="admin")

    def close(_):
        try:
            actions.set_state(study, "closed", admin)
        except withdrawal.ParticipationError:
            return 0
        return 1

    assert sum(in_threads(close, range(8))) == 1
    assert LogEntry.objects.count() == 1
