"""What comes next for a participant, read from the rows alone."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Part, Participant, Rating
from annotation.participation import assigning, entry, journey
from tests.crowd import PID, RIGHT, Walker, make_study
from tests.threads import in_threads

CONSENT, CHECK, END = "/work/in/crowd/consent/", "/work/in/crowd/check/", "/work/in/crowd/end/"


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def participant(study):
    return entry.arrive(study, PID)


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


def again(participant):
    return Participant.objects.get(pk=participant.pk)


def test_consent_comes_first_then_the_check_then_the_work(participant):
    assert journey.before_work(participant) == CONSENT
    journey.consent(participant)
    participant = again(participant)
    assert (participant.consent_version, participant.consented_at is not None) == ("2", True)
    assert journey.before_work(participant) == CHECK
    journey.pass_check(participant)
    assert journey.before_work(again(participant)) == ""


def test_what_a_study_does_not_have_is_not_asked_for(study):
    study.consent = ""
    study.save()
    study.check_questions.all().delete()
    assert journey.before_work(entry.arrive(study, PID)) == ""


def test_only_the_first_consent_counts(participant):
    journey.consent(participant)
    first = again(participant).consented_at
    journey.consent(participant)
    journey.decline(participant)
    assert again(participant).consented_at == first
    assert again(participant).outcome == ""


def test_who_declined_cannot_agree_by_an_old_page(participant):
    journey.decline(participant)
    journey.consent(participant)
    assert (again(participant).outcome, again(participant).consented_at) == ("returned", None)
    assert journey.before_work(again(participant)) == END
    assert journey.ending(again(participant)) == journey.Ending("declined")


def test_who_declines_gives_back_what_was_lent(study):
    study.platform = ""
    study.save()
    (participant,) = entry.make_links(study, ["Ann"])
    assigning.begin_part(participant)
    journey.decline(participant)
    assert set(participant.assignments.values_list("state", flat=True)) == {"released"}
    assert participant.parts.get().outcome == "returned"


def test_a_closed_study_asks_nobody_to_agree(study, participant):
    study.state = "paused"
    study.save()
    assert journey.before_work(again(participant)) == ""
    assert journey.next_part(again(participant)) is None


def test_two_tries_and_the_second_ends_the_visit(participant):
    journey.miss_check(participant, 0)
    assert (again(participant).check_tries, again(participant).outcome) == (1, "")
    journey.miss_check(participant, 0)  # the same page, sent twice
    assert (again(participant).check_tries, again(participant).outcome) == (1, "")
    journey.miss_check(participant, 1)
    assert (again(participant).check_tries, again(participant).outcome) == (2, "failed_check")
    journey.pass_check(participant)
    assert again(participant).checked_at is None


def test_who_has_passed_cannot_fail_any_more(participant):
    journey.pass_check(participant)
    journey.miss_check(participant, 0)
    journey.screen_out(participant)
    assert (again(participant).check_tries, again(participant).outcome) == (0, "")


@pytest.mark.django_db(transaction=True)
def test_a_try_that_is_sent_many_times_at_once_counts_once():
    participant = entry.arrive(make_study(), PID)
    in_threads(lambda _: journey.miss_check(participant, 0), range(12))
    assert (again(participant).check_tries, again(participant).outcome) == (1, "")


def test_a_part_is_offered_with_its_size(walker):
    walker.prepare()
    assert journey.next_part(walker.participant) == journey.Offer(
        number=1, of=2, texts=2, training=1
    )
    walker.do_part()
    assert journey.next_part(walker.participant) == journey.Offer(
        number=2, of=2, texts=2, training=0
    )
    walker.come(session="sub2")
    walker.do_part()
    assert journey.next_part(walker.participant) is None
    assert walker.participant.outcome == "done"


@pytest.mark.parametrize(("size", "texts"), [(None, 6), (4, 4), (9, 6)])
def test_a_part_holds_what_is_left(db, size, texts):
    study = make_study(items_per_part=size, training=0)
    participant = entry.arrive(study, PID)
    assert journey.next_part(participant).texts == texts
    assigning.begin_part(participant)
    assert participant.assignments.count() == texts


def test_hidden_gold_is_counted_as_it_is_shown(db):
    study = make_study(training=2, n_training=1, n_gold=1)
    participant = entry.arrive(study, PID)
    part = journey.next_part(participant)
    assigning.begin_part(participant)
    assert participant.assignments.count() == part.texts + part.training == 4


def test_an_offer_is_what_is_then_lent_after_time_ran_out(walker):
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
    assert journey.under_way(walker.participant) is None
    part = journey.next_part(walker.participant)
    assert (part.number, part.texts) == (1, 1)  # the other was handed in, and is not paid yet
    part = assigning.begin_part(walker.participant)
    assert part.assignments.get() == second


def test_the_way_from_item_to_item(walker):
    walker.prepare()
    walker.begin()
    practice, first, second = walker.in_hand()
    assert journey.after_item(practice) == first.get_absolute_url()  # put aside
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


def test_each_outcome_has_a_code_and_a_way_back(walker):
    walker.prepare()
    participant = walker.participant
    assert journey.ending(participant, "sub1") is None
    walker.begin()
    assert journey.ending(participant, "sub1") is None
    for assignment in walker.in_hand():
        walker.do(assignment)
    back = "https://app.prolific.com/submissions/complete?cc="
    assert journey.ending(participant, "sub1") == journey.Ending("part", "DONE1", f"{back}DONE1")
    participant.outcome = "screened_out"
    assert journey.ending(participant).url == f"{back}SCREEN1"
    participant.outcome = "failed_check"
    assert journey.ending(participant).url == f"{back}FAILED1"
    participant.outcome = "returned"
    assert journey.ending(participant, "sub2") == journey.Ending("returned")
    # Some platforms give no id of a submission: then what was finished last is what they came for.
    assert journey.ending(participant).code == "DONE1"


def test_a_part_is_paid_once(walker):
    """The code of the first part is not to be had for a second submission."""
    walker.prepare()
    walker.do_part()
    assert journey.is_spent(walker.participant, "sub1")
    assert not journey.is_spent(walker.participant, "sub2")
    assert journey.ending(walker.participant, "sub2") is None
    assert journey.ending(walker.participant, "sub1").kind == "part"
    walker.come(session="sub2")
    assert walker.do_part().redirect_chain[-1][0] == END
    assert journey.ending(walker.participant, "sub2").kind == "all"
    assert [part.session_id for part in walker.participant.parts.all()] == ["sub1", "sub2"]
    assert journey.ending(walker.participant, "sub3") == journey.Ending("nothing")


def test_who_came_by_a_link_takes_no_code_of_a_platform(study):
    (participant,) = entry.make_links(study, ["Ann"])
    participant.outcome = "screened_out"
    assert journey.ending(participant) == journey.Ending("screened_out")


def test_a_part_whose_time_is_over_is_ended_by_the_next_look(walker):
    walker.prepare()
    walker.begin()
    Part.objects.update(expires=timezone.now() - timedelta(minutes=1))
    assert journey.under_way(walker.participant) is None
    assert walker.participant.parts.get().outcome == "expired"
    assert not walker.participant.assignments.filter(slot__isnull=False).exists()


def test_every_step_is_the_same_on_another_device(study, walker):
    walker.come()
    assert "Before you begin" in Walker(Client(), study).come().content.decode()
    walker.agree()
    other = Walker(Client(), study)
    assert other.come().redirect_chain[-1][0] == CHECK
    other.screening()
    other.check(*RIGHT)
    assert walker.client.get("/work/in/crowd/").status_code == 200
    walker.begin()
    page = other.client.get("/work/in/crowd/").content.decode()
    assert f'href="/work/{walker.in_hand()[0].pk}/"' in page
