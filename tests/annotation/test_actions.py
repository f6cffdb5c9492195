"""What admins do to a study and to its people: what comes of it, that it is logged, who may do it."""

import contextlib
from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation import actions, assigning, entry, saving
from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    LogEntry,
    Message,
    Participant,
    Rating,
    User,
)
from tests import field
from tests.crowd import Walker, make_study
from tests.threads import in_threads

HOME = "/campaigns/crowd/"


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=6)


@pytest.fixture
def working(study) -> Participant:
    """Has practice and two items in hand; one of the items has an answer."""
    stay = field.begun(study, "pid", "sub")
    field.answer(field.in_hand(stay)[1], grade=1)
    return stay


def post(cast, path: str, who: str = "admin", **data):
    return cast.client(who).post(HOME + path, data, follow=True)


def about(stay: Participant, act: str = "") -> str:
    return f"participants/{stay.pk}/{act}"


def logged() -> list[tuple[str, str, str]]:
    return [(one.action, one.detail, str(one.by)) for one in LogEntry.objects.order_by("pk")]


def states(stay: Participant) -> list[str]:
    return [one.state for one in stay.assignments.order_by("position")]


def test_pause_go_on_close_and_open_again(cast, study):
    for state, told in (
        ("paused", "people can finish what they have"),
        ("open", "is open"),
        ("closed", "refused from now on"),
        ("open", "is open"),
        ("paused", "is paused"),
        ("closed", "is closed"),
    ):
        assert told in post(cast, "state/", state=state).content.decode()
        assert Campaign.objects.get().state == state
    assert [action for action, _, _ in logged()] == [
        *("paused", "opened again", "closed", "opened again", "paused", "closed"),
    ]
    assert logged()[0] == ("paused", "it was open", "ada")


@pytest.mark.parametrize(
    ("before", "asked", "why"),
    [
        ("draft", "closed", "it has to be opened before"),
        ("draft", "open", "it has to be opened before"),
        ("open", "open", "It is open"),
        ("closed", "paused", "It is closed"),
        ("open", "draft", "open, paused or closed"),
        ("open", "", "open, paused or closed"),
    ],
)
def test_a_state_that_makes_no_sense_is_refused(cast, study, before, asked, why):
    Campaign.objects.update(state=before)
    assert why in post(cast, "state/", state=asked).content.decode()
    assert Campaign.objects.get().state == before
    assert logged() == []


def test_a_closed_study_refuses_answers_and_a_paused_one_takes_them(cast, study, working):
    one = field.in_hand(working)[1]
    post(cast, "state/", state="paused")
    one.participant.campaign.refresh_from_db()
    field.answer(one)
    post(cast, "state/", state="closed")
    one.participant.campaign.refresh_from_db()
    with pytest.raises(saving.AnswerRefusedError):
        field.answer(one)


def test_a_part_is_extended_from_its_end(cast, working):
    before = working.sittings.get().expires
    page = post(cast, about(working, "extend/"), hours=30).content.decode()
    assert working.sittings.get().expires == before + timedelta(hours=30)
    assert "Part 1 runs until" in page
    assert logged() == [("extended", "part 1 by 30 h", "ada")]


def test_an_overdue_part_is_extended_from_now(cast, study, working):
    field.make_overdue(working)
    post(cast, about(working, "extend/"), hours=2)
    left = working.sittings.get().expires - timezone.now()
    assert timedelta(hours=1, minutes=59) < left <= timedelta(hours=2)
    assert assigning.expire(study) == 0


@pytest.mark.parametrize("hours", ["", "0", "-3", "ten", "100000"])
def test_hours_that_are_none_are_refused(cast, working, hours):
    before = working.sittings.get().expires
    assert "Hours:" in post(cast, about(working, "extend/"), hours=hours).content.decode()
    assert working.sittings.get().expires == before
    assert logged() == []


def test_only_a_part_under_way_with_an_end_can_be_extended(cast, study, working):
    stay = field.agreed(study, "pid-2")
    assert "No part is under way" in post(cast, about(stay, "extend/"), hours=1).content.decode()
    working.sittings.update(expires=None)
    assert "has no end" in post(cast, about(working, "extend/"), hours=1).content.decode()


def test_a_released_item_goes_to_somebody_else_and_keeps_its_answers(cast, working):
    one = field.in_hand(working)[1]
    post(cast, about(working, f"release/{one.pk}/"), confirm="on")
    one.refresh_from_db()
    assert (one.state, one.slot) == ("released", None)
    assert Answer.objects.filter(assignment=one).count() == 1
    assert Rating.objects.filter(rater=working.rater).count() == 1
    assert logged() == [("released an item", f"item {one.item.position + 1}", "ada")]


def test_what_cannot_be_undone_has_to_be_confirmed(cast, working):
    one = field.in_hand(working)[1]
    for act in (f"release/{one.pk}/", "release/", "return/", "erase/"):
        assert "tick the box" in post(cast, about(working, act)).content.decode(), act
    working.refresh_from_db()
    assert states(working) == ["open"] * 3
    assert (working.outcome, working.external_id) == ("", "pid")
    assert logged() == []


def test_what_was_handed_in_or_given_back_is_not_released(cast, working):
    one = field.in_hand(working)[1]
    field.hand_in(one)
    page = post(cast, about(working, f"release/{one.pk}/"), confirm="on").content.decode()
    assert "The item is submitted" in page
    assert Assignment.objects.get(pk=one.pk).state == "submitted"
    other = field.in_hand(working)[1]
    post(cast, about(working, f"release/{other.pk}/"), confirm="on")
    page = post(cast, about(working, f"release/{other.pk}/"), confirm="on").content.decode()
    assert "The item is released" in page
    assert len(logged()) == 1


def test_a_part_whose_last_item_is_taken_away_is_done(cast, study, working):
    practice, first, second = field.in_hand(working)
    field.hand_in(practice)
    field.hand_in(first)
    post(cast, about(working, f"release/{second.pk}/"), confirm="on")
    assert working.sittings.get().outcome == "done"


def test_a_part_of_which_nothing_was_handed_in_ends_and_another_can_begin(cast, study, working):
    for one in field.in_hand(working):
        post(cast, about(working, f"release/{one.pk}/"), confirm="on")
    first = working.sittings.get()
    assert (first.outcome, first.ended is None) == ("returned", False)
    assert assigning.begin_part(working) != first


def test_untouched_items_are_released_and_begun_ones_stay(cast, working):
    page = post(cast, about(working, "release/"), confirm="on").content.decode()
    assert "2 items went back" in page
    assert states(working) == ["released", "open", "released"]
    assert working.sittings.get().outcome == ""
    page = post(cast, about(working, "release/"), confirm="on").content.decode()
    assert "No item in hand is untouched" in page
    assert logged() == [("released untouched items", "2 items", "ada")]


def test_a_part_that_is_released_whole_ends_unfinished(cast, study):
    stay = field.begun(study, "pid", "sub")
    field.hand_in(field.in_hand(stay)[0])
    post(cast, about(stay, "release/"), confirm="on")
    assert stay.sittings.get().outcome == "returned"


def test_a_returned_participant_has_nothing_in_hand_and_comes_back_when_let_in(
    cast, study, working
):
    field.hand_in(field.in_hand(working)[0])
    post(cast, about(working, "return/"), confirm="on")
    working.refresh_from_db()
    assert working.outcome == "returned"
    assert states(working) == ["submitted", "released", "released"]
    assert working.sittings.get().outcome == "returned"
    assert Answer.objects.filter(question__isnull=False).count() == 3
    assert assigning.begin_part(working) is None
    page = post(cast, about(working, "return/"), confirm="on").content.decode()
    assert "was returned before" in page
    post(cast, about(working, "readmit/"))
    working.refresh_from_db()
    assert working.outcome == ""
    assert assigning.begin_part(working) is not None
    assert [entry[:2] for entry in logged()] == [
        ("returned", "2 items released"),
        ("readmitted", "was returned"),
    ]


def test_an_open_page_of_a_returned_participant_takes_no_item_back(cast, study, working):
    one = field.in_hand(working)[1]
    post(cast, about(working, "return/"), confirm="on")
    field.answer(one, grade=0)
    one.refresh_from_db()
    assert (one.state, one.slot) == ("released", None)
    assert Answer.objects.filter(assignment=one).count() == 2  # kept all the same
    with pytest.raises(saving.AnswerRefusedError):
        field.hand_in(one)


@pytest.mark.parametrize("outcome", ["screened_out", "failed_check"])
def test_who_failed_a_check_meets_it_anew(cast, study, outcome):
    stay = field.come(study, "pid")
    Participant.objects.update(check_tries=2, outcome=outcome)
    post(cast, about(stay, "readmit/"))
    stay.refresh_from_db()
    assert (stay.outcome, stay.check_tries, stay.checked_at) == ("", 0, None)


@pytest.mark.parametrize("outcome", ["", "done"])
def test_nobody_is_let_in_who_is_in(cast, study, outcome):
    stay = field.end(field.come(study, "pid"), outcome)
    assert "nobody to let in" in post(cast, about(stay, "readmit/")).content.decode()
    assert logged() == []


def test_overdue_items_return_at_the_push_of_a_button(cast, study, working):
    field.make_overdue(working)
    assert "2 items went back" in post(cast, "expire/").content.decode()
    assert working.sittings.get().outcome == "expired"
    assert "0 items went back" in post(cast, "expire/").content.decode()
    assert logged() == [("returned overdue items", "1 part ended, 2 items released", "ada")]


def test_a_command_returns_overdue_items_of_all_open_campaigns(study, working):
    paused = make_study("paused", texts=4)
    other = field.begun(paused, "pid", "sub")
    for stay in (working, other):
        field.make_overdue(stay)
    Campaign.objects.filter(slug="paused").update(state="paused")
    out = StringIO()
    call_command("expire_leases", stdout=out)
    assert out.getvalue() == "crowd: 2 items returned.\n"
    assert other.sittings.get().outcome == ""
    assert logged() == [("returned overdue items", "1 part ended, 2 items released", "None")]
    call_command("expire_leases", stdout=out)
    assert len(logged()) == 1


def test_a_message_goes_to_all_workers(cast, study):
    page = post(cast, "messages/", body="The server rests\ntonight <b>at ten</b>").content.decode()
    assert "The message is sent" in page
    assert "tonight &lt;b&gt;at ten" in page
    assert Message.objects.get().by == cast.admin
    assert logged() == [("sent a message", f"message {Message.objects.get().pk}", "ada")]
    for body in ("", "  ", "x" * 4001):
        response = cast.client("admin").post(f"{HOME}messages/", {"body": body})
        assert response.status_code == 422
    assert Message.objects.count() == 1


def test_links_are_made_for_names_or_for_a_number(cast, study):
    page = post(cast, "invitations/", names="Maria\n\n Jo \nMaria").content.decode()
    assert page.count("/invited/") == 2
    assert "Jo" in page
    post(cast, "invitations/", number="3")
    assert study.participants.filter(source="link").count() == 5
    post(cast, "invitations/", names="Maria")
    assert study.participants.filter(source="link").count() == 5
    assert [entry[:2] for entry in logged()] == [
        ("made links", "2 links"),
        ("made links", "3 links"),
        ("made links", "1 link"),
    ]


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({}, "Either names or a number"),
        ({"names": "Jo", "number": "2"}, "Either names or a number"),
        ({"number": "0"}, "greater than or equal to 1"),
        ({"number": "501"}, "less than or equal to 500"),
        ({"number": "many"}, "whole number"),
        ({"names": "x" * 201}, "longer than 200"),
        ({"names": "\n".join(map(str, range(501)))}, "501"),
    ],
)
def test_a_bad_wish_for_links_makes_none(cast, study, sent, says):
    response = cast.client("admin").post(f"{HOME}invitations/", sent)
    assert response.status_code == 422
    assert says in response.content.decode()
    assert not study.participants.exists()
    assert logged() == []


def test_a_link_lets_its_person_in(cast, study):
    post(cast, "invitations/", names="Jo")
    page = cast.client("admin").get(f"{HOME}invitations/").content.decode()
    link = page.split("testserver")[-1].split("<")[0]
    assert link.startswith("/invited/")
    assert Client().get(link, follow=True).status_code == 200


def test_the_address_for_a_platform_has_its_placeholders(cast, study):
    page = cast.client("admin").get(f"{HOME}invitations/").content.decode()
    asked = "PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}"
    assert f"http://testserver/start/crowd/?{asked}" in page
    Campaign.objects.update(platform="connect")
    page = cast.client("admin").get(f"{HOME}invitations/").content.decode()
    assert "http://testserver/start/crowd/<" in page
    Campaign.objects.update(platform="")
    assert "/start/" not in cast.client("admin").get(f"{HOME}invitations/").content.decode()


def test_erasing_deletes_the_person_and_keeps_the_labels(cast, study):
    walker = Walker(Client(), study, "5f1d2c3b4a59687786950413")
    walker.prepare()
    walker.begin()
    practice, first, second = walker.in_hand()
    walker.do(practice)
    walker.do(first)
    walker.client.post(f"/work/{second.pk}/skip/", {"note": "I am Jo of Leeds"})
    stay = walker.stay
    ratings = Rating.objects.filter(rater=stay.rater).count()
    sessions = Session.objects.count()
    page = post(cast, about(stay, "erase/"), confirm="on", with_notes="on").content.decode()
    assert "The personal data of" in page
    stay.refresh_from_db()
    assert stay.external_id == ""
    assert stay.erased_at is not None
    assert stay.rater.user is None
    assert not User.objects.filter(is_guest=True).exists()
    assert {(s.study_id, s.session_id) for s in stay.sittings.all()} == {("", "")}
    assert not Assignment.objects.exclude(note="").exists()
    assert not stay.assignments.filter(slot__isnull=False, state__in=["open", "skipped"]).exists()
    assert Rating.objects.filter(rater=stay.rater).count() == ratings > 0
    assert Session.objects.count() == sessions  # the guest's went, the admin's came
    assert not [s for s in Session.objects.all() if "arrival" in s.get_decoded()]
    assert logged() == [("erased personal data", "notes deleted too", "ada")]
    everything = str(list(LogEntry.objects.values()))
    assert "5f1d2c3b4a59687786950413" not in everything
    assert "Leeds" not in everything
    page = post(cast, about(stay, "erase/"), confirm="on").content.decode()
    assert "deleted before" in page
    post(cast, about(stay, "readmit/"))
    stay.refresh_from_db()
    assert stay.outcome != ""


def test_erasing_keeps_notes_unless_asked_and_the_pages_go_on(cast, study):
    people = field.fill(study)
    for stay in people.values():
        post(cast, about(stay, "erase/"), confirm="on")
    assert Assignment.objects.exclude(note="").count() == 1
    assert not Participant.objects.exclude(external_id="").exists()
    for path in ("", "participants/", "log/", "invitations/"):
        page = cast.client("admin").get(HOME + path)
        assert page.status_code == 200
        assert "pid-" not in page.content.decode()
        assert "Maria" not in page.content.decode()


def test_an_account_outlives_the_erasure_of_its_stay(cast, study):
    stay = assigning.invite(study, assigning.rater_of(cast.worker))
    Participant.objects.update(external_id="W. Il, room 3", consented_at=timezone.now())
    assigning.begin_part(stay)
    page = cast.client("admin").get(HOME + about(stay)).content.decode()
    assert "The account wil stays" in page
    post(cast, about(stay, "erase/"), confirm="on")
    stay.refresh_from_db()
    assert stay.external_id == ""
    assert stay.rater.user == cast.worker
    assert states(stay) == ["open"] * 3


ACTS = ["extend/", "release/", "release/{}/", "return/", "readmit/", "erase/"]
OF_STUDY = ["state/", "expire/", "invitations/", "messages/", "reconcile/"]
SENT = {"confirm": "on", "hours": 1, "state": "closed", "body": "x", "number": "1"}


@pytest.mark.parametrize(
    ("who", "status"), [("researcher", 403), ("worker", 403), ("stranger", 302)]
)
def test_only_admins_act(cast, working, who, status):
    client = cast.client(who)
    one = field.in_hand(working)[1]
    for act in ACTS:
        url = HOME + about(working, act.format(one.pk))
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
    one = field.in_hand(working)[1]
    neighbour = field.begun(working.campaign, "pid-2", "sub-2")
    for act in ACTS:
        path = about(working, act.format(one.pk))
        assert client.get(HOME + path).status_code == 405, act
        assert client.post(f"/campaigns/other/{path}", SENT).status_code == 404, act
        assert client.post(f"/campaigns/nowhere/{path}", SENT).status_code == 404, act
        missing = f"participants/99999/{act.format(one.pk)}"
        assert client.post(HOME + missing, SENT).status_code == 404, act
    for act in ("state/", "expire/"):
        assert client.get(HOME + act).status_code == 405, act
        assert client.post(f"/campaigns/nowhere/{act}", SENT).status_code == 404, act
    theirs = about(neighbour, f"release/{one.pk}/")
    assert client.post(HOME + theirs, SENT).status_code == 404
    assert states(working) == ["open"] * 3
    assert logged() == []


@pytest.mark.django_db(transaction=True)
def test_releasing_while_answers_come_in_loses_none_and_lends_no_slot_twice():
    study = make_study(texts=4, training=0, attention_per_part=0)
    admin = User.objects.create_user("ada", role="admin")
    stays = [field.begun(study, f"pid-{number}", f"sub-{number}") for number in range(4)]
    held = [one.pk for stay in stays for one in field.in_hand(stay)]
    keys = [(pk, uuid4()) for pk in held for _ in range(6)]

    def work(job):
        kind, value = job
        if kind == "save":
            pk, key = value
            one = Assignment.objects.select_related(
                "item__text", "participant__campaign__rubric", "sitting"
            ).get(pk=pk)
            field.answer(one, key=key)
        elif kind == "release":
            one = Assignment.objects.select_related("participant__campaign").get(pk=value)
            try:
                actions.release_item(one, admin)
            except actions.ActionRefusedError:
                return
        else:
            with contextlib.suppress(entry.NoEntryError):  # all slots are held at the moment
                assigning.begin_part(field.agreed(study, value))

    jobs = []
    for at, key in enumerate(keys):
        jobs.append(("save", key))
        if at % 3 == 0:
            jobs.append(("release", key[0]))
        if at % 12 == 0:
            jobs.append(("arrive", f"pid-late-{at}"))
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
    stays = [field.begun(study, f"pid-{number}", f"sub-{number}") for number in range(6)]

    def work(job):
        kind, pk = job
        stay = Participant.objects.select_related("campaign").get(pk=pk)
        if kind == "return":
            actions.return_participant(stay, admin)
            return
        for one in field.in_hand(stay):
            try:
                field.hand_in(one)
            except saving.AnswerRefusedError:
                return

    in_threads(work, [(kind, stay.pk) for stay in stays for kind in ("hand in", "return")])
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
        except actions.ActionRefusedError:
            return 0
        return 1

    assert sum(in_threads(close, range(8))) == 1
    assert LogEntry.objects.count() == 1
