"""Staff actions on a study: effects, log entries and permissions."""

from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Answer, Campaign, Message, Participant
from annotation.participation import assigning
from annotation.task import saving
from tests.annotation.monitoring.acting_material import HOME, about, logged, post, states
from tests.annotation.study_material import text_of_page
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


def test_pause_go_on_close_and_open_again(cast, study):
    for state, message in (
        ("paused", "people can finish what they have"),
        ("open", "is open"),
        ("closed", "are stored, but do not become ratings"),
        ("open", "is open"),
        ("paused", "is paused"),
        ("closed", "is closed"),
    ):
        assert message in post(cast, "state/", state=state).content.decode()
        assert Campaign.objects.get().state == state
    assert [action for action, _, _ in logged()] == [
        *("paused", "opened again", "closed", "opened again", "paused", "closed"),
    ]
    assert logged()[0] == ("paused", "it was open", "ada")


@pytest.mark.parametrize(
    ("before", "requested", "reason"),
    [
        ("draft", "closed", "open it first"),
        ("draft", "open", "open it first"),
        ("open", "open", "The campaign is open"),
        ("closed", "paused", "The campaign is closed"),
        ("open", "draft", "open, paused or closed"),
        ("open", "", "open, paused or closed"),
    ],
)
def test_state_that_makes_no_sense_is_refused(cast, study, before, requested, reason):
    Campaign.objects.update(state=before)
    assert reason in post(cast, "state/", state=requested).content.decode()
    assert Campaign.objects.get().state == before
    assert logged() == []


def test_answers_to_a_paused_study_count_and_those_to_a_closed_one_are_kept(cast, study, working):
    assignment = participant_states.open_assignments(working)[1]
    for state in ("paused", "closed"):
        post(cast, "state/", state=state)
        assignment.participant.campaign.refresh_from_db()
        participant_states.answer(assignment)
    assert list(Answer.objects.order_by("pk").values_list("late", flat=True)) == ["", "", "closed"]
    with pytest.raises(saving.AnswerError):
        saving.submit(assignment)


def test_overdue_items_return_at_the_push_of_a_button(cast, study, working):
    participant_states.make_overdue(working)
    assert "2 items returned" in post(cast, "expire/").content.decode()
    assert working.parts.get().outcome == "expired"
    assert "0 items returned" in post(cast, "expire/").content.decode()
    assert logged() == [("returned overdue items", "1 part ended, 2 items released", "ada")]


def test_command_returns_overdue_items_of_all_open_campaigns(study, working):
    paused = make_study("paused", texts=4)
    other_participant = participant_states.make_working(paused, "pid", "sub")
    for participant in (working, other_participant):
        participant_states.make_overdue(participant)
    Campaign.objects.filter(slug="paused").update(state="paused")
    out = StringIO()
    call_command("expire_leases", stdout=out)
    assert out.getvalue() == "crowd: 2 items returned.\n"
    assert other_participant.parts.get().outcome == ""
    assert logged() == [("returned overdue items", "1 part ended, 2 items released", "None")]
    call_command("expire_leases", stdout=out)
    assert len(logged()) == 1


def test_message_goes_to_all_workers(cast, study):
    page = post(cast, "messages/", body="The server rests\ntonight <b>at ten</b>").content.decode()
    assert "The message is sent" in page
    assert "tonight &lt;b&gt;at ten" in page
    assert Message.objects.get().by == cast.admin
    assert logged() == [("sent a message", f"message {Message.objects.get().pk}", "ada")]
    for body in ("", "  ", "x" * 4001):
        response = cast.client("admin").post(f"{HOME}messages/", {"body": body})
        assert response.status_code == 422
    assert Message.objects.count() == 1


ACTS = [
    *("extend/", "done/", "release/", "release/{}/", "return/", "readmit/", "erase/"),
    *("exclude/", "include/", "link/", "link/revoke/"),
]
OF_STUDY = ["state/", "expire/", "abandoned/", "invitations/", "messages/", "reconcile/"]
SENT = {"confirm": "on", "hours": 1, "state": "closed", "body": "x", "number": "1"}


def test_abandoned_items_are_counted_and_released(cast, study, working):
    participant_states.make_overdue(working)
    assigning.expire(study)
    page = text_of_page(cast.client("researcher").get(HOME))
    assert "1 begun by 1 person whose time is over; they block 1 assignment" in page
    assert "Release abandoned items" not in page  # that is for admins
    assert "abandoned items…" in text_of_page(cast.client("admin").get(HOME))
    assert "tick the box" in post(cast, "abandoned/").content.decode()
    page = post(cast, "abandoned/", confirm="on").content.decode()
    assert "1 item returned to the pool; the answers are kept." in page
    assert states(working).count("released") == 3
    assert Answer.objects.count() == 1
    assert logged() == [("released begun items", "1 item of 1 participant", "ada")]
    assert "There are no begun items" in post(cast, "abandoned/", confirm="on").content.decode()
    assert len(logged()) == 1


def test_closing_page_shows_the_number_of_open_items(cast, study, working):
    assert "the 2 open items" in text_of_page(cast.client("admin").get(HOME))


@pytest.mark.parametrize(
    ("role", "status"), [("researcher", 403), ("worker", 403), ("stranger", 302)]
)
def test_only_admins_act(cast, working, role, status):
    client = cast.client(role)
    assignment = participant_states.open_assignments(working)[1]
    for act in ACTS:
        url = HOME + about(working, act.format(assignment.pk))
        assert client.post(url, SENT).status_code == status, act
    for act in OF_STUDY:
        assert client.post(HOME + act, SENT).status_code == status, act
    working.refresh_from_db()
    assert (working.outcome, states(working)) == ("", ["open"] * 3)
    assert Campaign.objects.get().state == "open"
    assert not Message.objects.exists()
    assert study_links() == 0
    assert logged() == []


def study_links() -> int:
    return Participant.objects.filter(source="link").count()


def test_acts_are_posts_about_people_of_this_study(cast, working):
    make_study("other")
    client = cast.client("admin")
    assignment = participant_states.open_assignments(working)[1]
    neighbour = participant_states.make_working(working.campaign, "pid-2", "sub-2")
    for act in ACTS:
        path = about(working, act.format(assignment.pk))
        assert client.get(HOME + path).status_code == 405, act
        assert client.post(f"/campaigns/other/{path}", SENT).status_code == 404, act
        assert client.post(f"/campaigns/nowhere/{path}", SENT).status_code == 404, act
        missing = f"participants/99999/{act.format(assignment.pk)}"
        assert client.post(HOME + missing, SENT).status_code == 404, act
    for act in ("state/", "expire/", "abandoned/"):
        assert client.get(HOME + act).status_code == 405, act
        assert client.post(f"/campaigns/nowhere/{act}", SENT).status_code == 404, act
    theirs = about(neighbour, f"release/{assignment.pk}/")
    assert client.post(HOME + theirs, SENT).status_code == 404
    assert states(working) == ["open"] * 3
    assert logged() == []
