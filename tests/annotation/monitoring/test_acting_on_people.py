"""Staff actions on a participant: extension, release, end, readmission, links."""

from datetime import timedelta

import pytest
from django.test import Client, RequestFactory
from django.utils import timezone

from annotation.models import Answer, Assignment, Campaign, Participant, Rating
from annotation.participation import assigning, endings, entry
from annotation.task import saving
from tests.annotation.monitoring.acting_material import HOME, about, logged, post, states
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=6)


@pytest.fixture
def working(study) -> Participant:
    """Has practice and two items in hand; one of the items has an answer."""
    participant = participant_states.make_working(study, "pid", "sub")
    participant_states.answer(participant_states.open_assignments(participant)[1], grade=1)
    return participant


def test_part_is_extended_from_its_end(cast, working):
    before = working.parts.get().expires
    page = post(cast, about(working, "extend/"), hours=30).content.decode()
    assert working.parts.get().expires == before + timedelta(hours=30)
    assert "The deadline of part 1 is" in page
    assert logged() == [("extended", "part 1 by 30 h", "ada")]


def test_overdue_part_is_extended_from_now(cast, study, working, fake_clock):
    participant_states.make_overdue(working)
    post(cast, about(working, "extend/"), hours=2)
    assert working.parts.get().expires == fake_clock.now() + timedelta(hours=2)
    assert assigning.expire(study) == 0


def test_part_whose_time_ran_out_is_under_way_again_with_what_is_still_free(cast, study, working):
    _, begun, reassigned = working.assignments.order_by("position")
    participant_states.make_overdue(working)
    assigning.expire(study)  # practice and what is untouched go back
    for slot in range(2):
        Assignment.objects.create(
            participant=participant_states.make_consented(study, f"other-{slot}"),
            item=reassigned.item,
            position=0,
            slot=slot,
        )
    post(cast, about(working, "extend/"), hours=5)
    part = working.parts.get()
    assert (part.outcome, part.ended) == ("", None)
    assert states(working) == ["open", "open", "released"]
    assert begun in working.assignments.filter(state="open")
    detail = "part 1 by 5 h; its time had run out, 1 of its items are with others"
    assert logged() == [("extended", detail, "ada")]


def test_part_is_declared_done_and_has_its_code(cast, working):
    participant_states.make_overdue(working)
    assigning.expire(working.campaign)
    assert "tick the box" in post(cast, about(working, "done/")).content.decode()
    page = post(cast, about(working, "done/"), confirm="on").content.decode()
    assert "Part 1 is done: it is due for pay" in page
    part = working.parts.get()
    assert part.outcome == "done"
    assert not working.assignments.filter(state="open").exists()
    assert endings.ending(working, "sub").code == "DONE1"
    detail = "part 1, it was expired; 1 item released"
    assert logged() == [("declared done", detail, "ada")]
    assert (
        "no unfinished part" in post(cast, about(working, "done/"), confirm="on").content.decode()
    )


@pytest.mark.parametrize("hours", ["", "0", "-3", "ten", "100000"])
def test_hours_that_are_none_are_refused(cast, working, hours):
    before = working.parts.get().expires
    assert "Hours:" in post(cast, about(working, "extend/"), hours=hours).content.decode()
    assert working.parts.get().expires == before
    assert logged() == []


def test_only_a_part_under_way_with_an_end_can_be_extended(cast, study, working):
    participant = participant_states.make_consented(study, "pid-2")
    assert (
        "There is no open or overdue part"
        in post(cast, about(participant, "extend/"), hours=1).content.decode()
    )
    working.parts.update(expires=None)
    assert "has no deadline" in post(cast, about(working, "extend/"), hours=1).content.decode()


def test_released_item_goes_to_somebody_else_and_keeps_its_answers(cast, working):
    assignment = participant_states.open_assignments(working)[1]
    post(cast, about(working, f"release/{assignment.pk}/"), confirm="on")
    assignment.refresh_from_db()
    assert (assignment.state, assignment.slot) == ("released", None)
    assert Answer.objects.filter(assignment=assignment).count() == 1
    assert not Rating.objects.filter(rater=working.rater).exists()  # its place is for others
    assert logged() == [("released an item", f"item {assignment.item.position + 1}", "ada")]


def test_irreversible_action_needs_confirmation(cast, working):
    assignment = participant_states.open_assignments(working)[1]
    for act in (f"release/{assignment.pk}/", "release/", "return/", "erase/"):
        assert "tick the box" in post(cast, about(working, act)).content.decode(), act
    working.refresh_from_db()
    assert states(working) == ["open"] * 3
    assert (working.outcome, working.external_id) == ("", "pid")
    assert logged() == []


def test_submitted_or_released_item_is_not_released_again(cast, working):
    assignment = participant_states.open_assignments(working)[1]
    participant_states.submit_item(assignment)
    page = post(cast, about(working, f"release/{assignment.pk}/"), confirm="on").content.decode()
    assert "The item is submitted" in page
    assert Assignment.objects.get(pk=assignment.pk).state == "submitted"
    other_assignment = participant_states.open_assignments(working)[1]
    post(cast, about(working, f"release/{other_assignment.pk}/"), confirm="on")
    page = post(
        cast, about(working, f"release/{other_assignment.pk}/"), confirm="on"
    ).content.decode()
    assert "The item is released" in page
    assert len(logged()) == 1


def test_part_whose_last_item_is_taken_away_is_done(cast, study, working):
    practice, first, second = participant_states.open_assignments(working)
    participant_states.submit_item(practice)
    participant_states.submit_item(first)
    post(cast, about(working, f"release/{second.pk}/"), confirm="on")
    assert working.parts.get().outcome == "done"


def test_part_without_submitted_items_ends_and_another_can_begin(cast, study, working):
    for assignment in participant_states.open_assignments(working):
        post(cast, about(working, f"release/{assignment.pk}/"), confirm="on")
    first = working.parts.get()
    assert (first.outcome, first.ended is None) == ("returned", False)
    assert assigning.begin_part(working) != first


def test_untouched_items_are_released_and_begun_ones_stay(cast, working):
    page = post(cast, about(working, "release/"), confirm="on").content.decode()
    assert "2 items returned" in page
    assert states(working) == ["released", "open", "released"]
    assert working.parts.get().outcome == ""
    page = post(cast, about(working, "release/"), confirm="on").content.decode()
    assert "There are no untouched open items" in page
    assert logged() == [("released untouched items", "2 items", "ada")]


def test_part_that_is_released_whole_ends_unfinished(cast, study):
    participant = participant_states.make_working(study, "pid", "sub")
    participant_states.submit_item(participant_states.open_assignments(participant)[0])
    post(cast, about(participant, "release/"), confirm="on")
    assert participant.parts.get().outcome == "returned"


def test_returned_participant_has_nothing_in_hand_and_comes_back_when_let_in(cast, study, working):
    participant_states.submit_item(participant_states.open_assignments(working)[0])
    post(cast, about(working, "return/"), confirm="on")
    working.refresh_from_db()
    assert working.outcome == "returned"
    assert states(working) == ["submitted", "released", "released"]
    assert working.parts.get().outcome == "returned"
    assert Answer.objects.filter(question__isnull=False).count() == 3
    assert assigning.begin_part(working) is None
    page = post(cast, about(working, "return/"), confirm="on").content.decode()
    assert "has already ended" in page
    post(cast, about(working, "readmit/"))
    working.refresh_from_db()
    assert working.outcome == ""
    assert assigning.begin_part(working) is not None
    assert [entry[:2] for entry in logged()] == [
        ("returned", "2 items released"),
        ("readmitted", "was returned"),
    ]


def test_open_page_of_a_returned_participant_takes_no_item_back(cast, study, working):
    assignment = participant_states.open_assignments(working)[1]
    post(cast, about(working, "return/"), confirm="on")
    participant_states.answer(assignment, grade=0)
    assignment.refresh_from_db()
    assert (assignment.state, assignment.slot) == ("released", None)
    assert Answer.objects.filter(assignment=assignment).count() == 2  # kept all the same
    with pytest.raises(saving.AnswerError):
        participant_states.submit_item(assignment)


@pytest.mark.parametrize("outcome", ["screened_out", "failed_check"])
def test_readmitted_participant_repeats_a_failed_check(cast, study, outcome):
    participant = participant_states.arrive(study, "pid")
    Participant.objects.update(check_tries=2, outcome=outcome)
    post(cast, about(participant, "readmit/"))
    participant.refresh_from_db()
    assert (participant.outcome, participant.check_tries, participant.checked_at) == ("", 0, None)


@pytest.mark.parametrize("outcome", ["", "done"])
def test_active_participant_cannot_be_readmitted(cast, study, outcome):
    participant = participant_states.end(participant_states.arrive(study, "pid"), outcome)
    assert "cannot be readmitted" in post(cast, about(participant, "readmit/")).content.decode()
    assert logged() == []


@pytest.fixture
def ann(study):
    """A participant with an invitation link, who is logged in by it."""
    (participant,) = entry.make_links(study, ["Ann"])
    return participant


def way_in(participant):
    return entry.link_of(participant, RequestFactory().get("/"))


def test_new_link_ends_the_one_before(cast, study, ann):
    first = way_in(ann)
    page = post(cast, about(ann, "link/"), days=3).content.decode()
    assert "see Invitations" in page
    ann.refresh_from_db()
    assert (ann.link_until - timezone.now()).days == 2
    assert Client().get(first).status_code == 403
    assert Client().get(way_in(ann)).status_code == 302
    listed = cast.client("admin").get(f"{HOME}invitations/").content.decode()
    assert way_in(ann) in listed
    assert first not in listed
    post(cast, about(ann, "link/"))
    assert logged() == [
        ("made a new link", "for 3 d", "ada"),
        ("made a new link", "as long as the study", "ada"),
    ]


def test_revoked_link_lets_nobody_in_and_logs_out(cast, study, ann):
    client = Client()
    client.get(way_in(ann))
    assert "tick the box" in post(cast, about(ann, "link/revoke/")).content.decode()
    page = post(cast, about(ann, "link/revoke/"), confirm="on").content.decode()
    assert "its user is logged out" in page
    assert "Revoke the link" not in page
    assert client.get("/work/").status_code == 302  # to come in again
    assert "This link has ended." in client.get(way_in(ann)).content.decode()
    ann.refresh_from_db()
    posted = post(cast, "invitations/", names="Ann\nBen").content.decode()
    assert "1 link created. Ann already has a link, which does not change" in posted
    assert way_in(ann) not in cast.client("admin").get(f"{HOME}invitations/").content.decode()
    assert (
        "has already ended" in post(cast, about(ann, "link/revoke/"), confirm="on").content.decode()
    )
    post(cast, about(ann, "link/"))
    ann.refresh_from_db()
    assert client.get(way_in(ann)).status_code == 302
    assert [(act, detail) for act, detail, _ in logged()] == [
        ("revoked the link", ""),
        ("made links", "1 link"),
        ("made a new link", "as long as the study"),
    ]


def test_readmitted_participant_has_a_new_link(cast, study, ann):
    first = way_in(ann)
    post(cast, about(ann, "return/"), confirm="on")
    assert "with a new link" in post(cast, about(ann, "readmit/")).content.decode()
    assert Client().get(first).status_code == 403
    ann.refresh_from_db()
    assert Client().get(way_in(ann)).status_code == 302


@pytest.mark.parametrize(
    ("act", "sent", "message"),
    [
        ("link/", {"days": 0}, "Days: Ensure this value is greater"),
        ("link/", {"days": "soon"}, "Days: Enter a whole number"),
        ("link/", {}, "has no invitation link"),
        ("link/revoke/", {"confirm": "on"}, "has no invitation link"),
    ],
)
def test_link_that_makes_no_sense_is_refused(cast, study, ann, act, sent, message):
    about_whom = ann if "days" in sent else participant_states.arrive(study, "pid")
    assert message in post(cast, about(about_whom, act), **sent).content.decode()
    assert logged() == []
