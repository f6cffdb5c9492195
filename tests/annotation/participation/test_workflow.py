"""Workflow of a participant: the next step, read from the rows alone."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Part, Participant, Rating
from annotation.participation import assigning, endings, entry, workflow
from tests.toolbox.prolific_study import PID, RIGHT, Walker, make_study
from tests.toolbox.threads import in_threads

CONSENT, CHECK, END = "/work/in/crowd/consent/", "/work/in/crowd/check/", "/work/in/crowd/end/"


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def participant(study):
    return entry.get_or_create_participant(study, PID)


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


def reloaded(participant):
    return Participant.objects.get(pk=participant.pk)


def test_consent_comes_first_then_the_check_then_the_work(participant):
    assert workflow.required_step_url(participant) == CONSENT
    workflow.consent(participant)
    participant = reloaded(participant)
    assert (participant.consent_version, participant.consented_at is not None) == ("2", True)
    assert workflow.required_step_url(participant) == CHECK
    workflow.pass_check(participant)
    assert workflow.required_step_url(reloaded(participant)) == ""


def test_missing_steps_of_a_study_are_skipped(study):
    study.consent = ""
    study.save()
    study.check_questions.all().delete()
    assert workflow.required_step_url(entry.get_or_create_participant(study, PID)) == ""


def test_only_the_first_consent_counts(participant):
    workflow.consent(participant)
    first = reloaded(participant).consented_at
    workflow.consent(participant)
    workflow.decline(participant)
    assert reloaded(participant).consented_at == first
    assert reloaded(participant).outcome == ""


def test_consent_after_declining_is_ignored(participant):
    workflow.decline(participant)
    workflow.consent(participant)
    assert (reloaded(participant).outcome, reloaded(participant).consented_at) == ("returned", None)
    assert workflow.required_step_url(reloaded(participant)) == END
    assert endings.ending(reloaded(participant)) == endings.Ending("declined")


def test_declining_releases_assigned_items(study):
    study.platform = ""
    study.save()
    (participant,) = entry.make_links(study, ["Ann"])
    assigning.begin_part(participant)
    workflow.decline(participant)
    assert set(participant.assignments.values_list("state", flat=True)) == {"released"}
    assert participant.parts.get().outcome == "returned"


def test_closed_study_asks_nobody_to_agree(study, participant):
    study.state = "paused"
    study.save()
    assert workflow.required_step_url(reloaded(participant)) == ""
    assert workflow.next_part(reloaded(participant)) is None


def test_second_failed_try_ends_the_visit(participant):
    workflow.miss_check(participant, 0)
    assert (reloaded(participant).check_tries, reloaded(participant).outcome) == (1, "")
    workflow.miss_check(participant, 0)  # the same page, sent twice
    assert (reloaded(participant).check_tries, reloaded(participant).outcome) == (1, "")
    workflow.miss_check(participant, 1)
    assert (reloaded(participant).check_tries, reloaded(participant).outcome) == (2, "failed_check")
    workflow.pass_check(participant)
    assert reloaded(participant).checked_at is None


def test_passed_check_cannot_be_failed(participant):
    workflow.pass_check(participant)
    workflow.miss_check(participant, 0)
    workflow.screen_out(participant)
    assert (reloaded(participant).check_tries, reloaded(participant).outcome) == (0, "")


@pytest.mark.django_db(transaction=True)
def test_concurrent_submission_of_a_try_counts_once():
    participant = entry.get_or_create_participant(make_study(), PID)
    in_threads(lambda _: workflow.miss_check(participant, 0), range(12))
    assert (reloaded(participant).check_tries, reloaded(participant).outcome) == (1, "")


def test_part_is_offered_with_its_size(walker):
    walker.prepare()
    assert workflow.next_part(walker.participant) == workflow.Offer(
        number=1, of=2, texts=2, training=1
    )
    walker.do_part()
    assert workflow.next_part(walker.participant) == workflow.Offer(
        number=2, of=2, texts=2, training=0
    )
    walker.arrive(session="sub2")
    walker.do_part()
    assert workflow.next_part(walker.participant) is None
    assert walker.participant.outcome == "done"


@pytest.mark.parametrize(("size", "texts"), [(None, 6), (4, 4), (9, 6)])
def test_part_holds_what_is_left(db, size, texts):
    study = make_study(items_per_part=size, training=0)
    participant = entry.get_or_create_participant(study, PID)
    assert workflow.next_part(participant).texts == texts
    assigning.begin_part(participant)
    assert participant.assignments.count() == texts


def test_hidden_gold_is_counted_among_the_texts(db):
    study = make_study(training=2, n_training=1, n_gold=1)
    participant = entry.get_or_create_participant(study, PID)
    part = workflow.next_part(participant)
    assigning.begin_part(participant)
    assert participant.assignments.count() == part.texts + part.training == 4


def test_offer_is_what_is_then_lent_after_time_ran_out(walker):
    walker.prepare()
    walker.begin()
    practice, first, second = walker.in_hand()
    walker.do(practice)
    walker.do(first)
    walker.client.post(
        f"/work/{second.pk}/answers/{second.item.asked.first().question_id}/",
        {"key": "0b5f6f7c-1d0e-4a53-9f0a-0c8a3b3f9c11", "grade": 0, "spans": "[]"},
    )
    Part.objects.update(expires=timezone.now() - timedelta(minutes=1))
    assert workflow.under_way(walker.participant) is None
    part = workflow.next_part(walker.participant)
    assert (part.number, part.texts) == (1, 1)  # the other was submitted, and is not paid yet
    part = assigning.begin_part(walker.participant)
    assert part.assignments.get() == second


def test_way_from_item_to_item(walker):
    walker.prepare()
    walker.begin()
    practice, first, second = walker.in_hand()
    assert workflow.url_after_item(practice) == first.get_absolute_url()  # put aside
    page = walker.do(practice)
    assert page.redirect_chain[-1][0] == f"/work/{practice.pk}/feedback/"
    assert page.context["onwards"] == first.get_absolute_url()
    assert walker.do(first).redirect_chain[-1][0] == second.get_absolute_url()
    assert walker.do(second).redirect_chain[-1][0] == END


def test_answers_to_practice_are_no_ratings(walker):
    before = Rating.objects.count()
    walker.prepare()
    walker.begin()
    walker.do(walker.in_hand()[0])
    assert Rating.objects.count() == before
    assert Assignment.objects.filter(state="submitted").get().answers.count() == 2


def test_outcomes_have_a_code_and_a_return_url(walker):
    walker.prepare()
    participant = walker.participant
    assert endings.ending(participant, "sub1") is None
    walker.begin()
    assert endings.ending(participant, "sub1") is None
    for assignment in walker.in_hand():
        walker.do(assignment)
    return_url = "https://app.prolific.com/submissions/complete?cc="
    assert endings.ending(participant, "sub1") == endings.Ending(
        "part", "DONE1", f"{return_url}DONE1"
    )
    participant.outcome = "screened_out"
    assert endings.ending(participant).url == f"{return_url}SCREEN1"
    participant.outcome = "failed_check"
    assert endings.ending(participant).url == f"{return_url}FAILED1"
    participant.outcome = "returned"
    assert endings.ending(participant, "sub2") == endings.Ending("left")
    # Some platforms give no id of a submission: then what was finished last is what they came for.
    assert endings.ending(participant).code == "DONE1"


def test_part_is_paid_once(walker):
    """The code of the first part is not to be had for a second submission."""
    walker.prepare()
    walker.do_part()
    assert workflow.has_used_submission(walker.participant, "sub1")
    assert not workflow.has_used_submission(walker.participant, "sub2")
    assert endings.ending(walker.participant, "sub2") is None
    assert endings.ending(walker.participant, "sub1").kind == "part"
    walker.arrive(session="sub2")
    assert walker.do_part().redirect_chain[-1][0] == END
    assert endings.ending(walker.participant, "sub2").kind == "all"
    assert [part.session_id for part in walker.participant.parts.all()] == ["sub1", "sub2"]
    assert endings.ending(walker.participant, "sub3") == endings.Ending("nothing")


def test_participant_by_link_gets_no_platform_code(study):
    (participant,) = entry.make_links(study, ["Ann"])
    participant.outcome = "screened_out"
    assert endings.ending(participant) == endings.Ending("screened_out")


def test_part_whose_time_is_over_is_ended_by_the_next_look(walker):
    walker.prepare()
    walker.begin()
    Part.objects.update(expires=timezone.now() - timedelta(minutes=1))
    assert workflow.under_way(walker.participant) is None
    assert walker.participant.parts.get().outcome == "expired"
    assert not walker.participant.assignments.filter(slot__isnull=False).exists()


def test_steps_are_the_same_on_another_device(study, walker):
    walker.arrive()
    assert "Before you begin" in Walker(Client(), study).arrive().content.decode()
    walker.agree()
    other_walker = Walker(Client(), study)
    assert other_walker.arrive().redirect_chain[-1][0] == CHECK
    other_walker.check(*RIGHT)
    assert walker.client.get("/work/in/crowd/").status_code == 200
    walker.begin()
    page = other_walker.client.get("/work/in/crowd/").content.decode()
    assert f'href="/work/{walker.in_hand()[0].pk}/"' in page
