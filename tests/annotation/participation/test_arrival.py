"""Arrival from a platform: new guests, returning people, and refusals."""

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client, RequestFactory
from django.utils import timezone
from rest_framework.settings import api_settings

from annotation.models import Part, Participant, Rater, User
from annotation.monitoring import actions
from annotation.participation import entry
from annotation.throttling import Arrivals, address_of
from tests.toolbox.prolific_study import PID, Walker, arrival_url, join, make_study, terms
from tests.toolbox.responses import text_of_page
from tests.toolbox.threads import in_threads


@pytest.fixture
def study(db):
    return make_study()


def people():
    return User.objects.count(), Rater.objects.filter(user__isnull=False).count()


def test_arrival_shows_the_terms_and_makes_nothing(study):
    client = Client()
    for _ in range(2):  # reloaded
        page = client.get(arrival_url(study))
        assert page.status_code == 200
        assert "Version 2 of these terms" in page.content.decode()
    assert not Participant.objects.exists()
    assert people() == (0, 0)
    assert not Session.objects.exists()
    assert "sessionid" not in page.cookies


def test_without_terms_there_is_a_button_to_begin(study):
    study.consent = ""
    study.save()
    page = Client().get(arrival_url(study)).content.decode()
    assert re.search(r'value="agree">\s*Start\s*<', page)
    assert "agree with" not in page
    assert people() == (0, 0)
    assert join(study).url == "/work/in/crowd/"
    assert Participant.objects.get().consented_at is None


@pytest.mark.parametrize(
    ("platform", "name"), [("prolific", "PROLIFIC_PID"), ("mturk", "workerId")]
)
def test_platform_id_without_case_is_case_insensitive(study, platform, name):
    study.platform = platform
    study.save()
    for way in (PID, PID.upper()):
        Client().post(f"/start/crowd/?{name}={way}", terms(study))
    assert Participant.objects.get().external_id == (PID if platform == "prolific" else PID.upper())


def test_platform_id_with_case_distinguishes_people(study):
    study.platform = "sona"
    study.save()
    for way in ("a1", "A1"):
        Client().post(f"/start/crowd/?id={way}", terms(study))
    assert Participant.objects.count() == 2


def test_consenting_newcomer_becomes_a_guest_under_a_pseudonym(study):
    client = Client()
    response = join(study, client=client)
    assert (response.status_code, response.url) == (302, "/work/in/crowd/")
    participant = Participant.objects.get()
    user = participant.rater.user
    assert (participant.source, participant.external_id, participant.outcome) == (
        "prolific",
        PID,
        "",
    )
    assert (user.is_guest, user.role, user.has_usable_password()) == (True, "worker", False)
    assert participant.rater.name == user.username
    assert user.username.startswith("w-")
    assert PID not in user.username
    assert int(client.session["_auth_user_id"]) == user.pk


def test_id_of_the_platform_stands_in_one_place_alone(study):
    Walker(Client(), study).prepare()
    tables = []
    for table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(f"select * from {connection.ops.quote_name(table)}")  # noqa: S608
            if any(PID in str(row) for row in cursor.fetchall()):
                tables.append(table)
    assert tables == ["annotation_participant"]


def test_same_id_has_another_pseudonym_in_another_study(study):
    other_study = make_study("other")
    first, second = (
        entry.get_or_create_participant(study, PID),
        entry.get_or_create_participant(other_study, PID),
    )
    assert first.rater != second.rater
    assert first.rater.name != second.rater.name


def test_returning_person_without_cookies_is_recognized(study):
    join(study)
    before = people()
    client = Client()
    client.get(arrival_url(study, session="sub2"))
    assert people() == before
    assert int(client.session["_auth_user_id"]) == Participant.objects.get().rater.user_id


@pytest.mark.django_db(transaction=True)
def test_concurrent_arrivals_of_one_person_create_one_participant():
    study = make_study()
    pages = in_threads(lambda _: join(study).status_code, range(16))
    assert pages == [302] * 16
    assert Participant.objects.count() == 1
    assert people() == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_concurrent_arrivals_of_many_people_create_many_participants():
    study = make_study()
    pids = [f"person{number:02}" for number in range(12)] * 2
    in_threads(lambda pid: join(study, pid), pids)
    assert Participant.objects.count() == 12
    assert Participant.objects.values("external_id").distinct().count() == 12


def test_ids_with_the_same_short_pseudonym_are_separate_people(study):
    participant = entry.get_or_create_participant(study, PID)
    Participant.objects.filter(pk=participant.pk).update(external_id="somebody-else")
    second_arrival = entry.get_or_create_participant(study, PID)
    assert second_arrival != participant
    assert second_arrival.rater != participant.rater


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "PROLIFIC_PID is missing"),
        ("PROLIFIC_PID=", "PROLIFIC_PID is missing"),
        ("STUDY_ID=a&SESSION_ID=b", "PROLIFIC_PID is missing"),
        ("PROLIFIC_PID=" + "a" * 101, "PROLIFIC_PID is too long"),
        ("PROLIFIC_PID={{%PROLIFIC_PID%}}", "PROLIFIC_PID is not an id"),
        ("PROLIFIC_PID=a%00b", "PROLIFIC_PID is not an id"),
        ("PROLIFIC_PID=a b", "PROLIFIC_PID is not an id"),
        ("PROLIFIC_PID=somebody", "PROLIFIC_PID is not an id"),
        (f"PROLIFIC_PID={PID[:-1]}", "PROLIFIC_PID is not an id"),
        ("PROLIFIC_PID=é", "PROLIFIC_PID is not an id"),
        ("PROLIFIC_PID=a&PROLIFIC_PID=b", "PROLIFIC_PID is there more than once"),
        (f"PROLIFIC_PID={PID}&SESSION_ID=" + "b" * 101, "SESSION_ID is too long"),
        (f"PROLIFIC_PID={PID}&STUDY_ID=<b>", "STUDY_ID is not an id"),
        ("workerId=a", "PROLIFIC_PID is missing"),
    ],
)
def test_invalid_arrival_url_is_refused_with_a_message(study, query, message):
    response = Client().get(f"/start/crowd/?{query}")
    assert response.status_code == 400
    assert message in response.content.decode()
    assert not Participant.objects.exists()
    assert people() == (0, 0)


def test_visitor_from_another_platform_sees_the_expected_one(study):
    page = Client().get("/start/crowd/?workerId=A1&assignmentId=B2").content.decode()
    assert "Mechanical Turk" in page
    assert "Prolific" in page


@pytest.mark.parametrize(
    ("platform", "query"),
    [
        ("sona", "id=31415"),
        ("connect", "participantId=C1&assignmentId=A1&projectId=P1"),
        ("mturk", "workerId=W1&assignmentId=A1&hitId=H1"),
    ],
)
def test_other_platforms_have_their_own_parameters(db, platform, query):
    study = make_study(platform=platform)
    client = Client()
    assert client.get(f"/start/crowd/?{query}").status_code == 200
    assert client.post(f"/start/crowd/?{query}", terms(study)).status_code == 302
    participant = Participant.objects.get()
    assert participant.source == platform
    assert participant.external_id == {"sona": "31415", "connect": "C1", "mturk": "W1"}[platform]
    platform_spec = entry.PLATFORMS[platform]
    if platform_spec.session:
        assert client.session[entry.SESSION_KEY] == {
            str(study.pk): [{"connect": "P1", "mturk": "H1"}[platform], "A1"]
        }


def test_previewed_hit_is_not_accepted(db):
    make_study(platform="mturk")
    response = Client().get("/start/crowd/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1")
    assert response.status_code == 400
    assert "accept the HIT" in response.content.decode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "draft"}, "has not been opened yet"),
        ({"state": "paused"}, "is paused"),
        ({"state": "closed"}, "is over"),
        ({"opens_at": timezone.now() + timedelta(days=2)}, "opens on"),
        ({"closes_at": timezone.now() - timedelta(days=2)}, "is over"),
    ],
)
def test_inactive_study_refuses_newcomers(study, change, message):
    for name, value in change.items():
        setattr(study, name, value)
    study.save()
    response = Client().get(arrival_url(study))
    page = response.content.decode()
    assert response.status_code == 403
    assert message in page
    assert "return your submission" in page
    assert ("Reading about bridges" in page) == (change != {"state": "draft"})
    assert people() == (0, 0)


def test_study_without_a_platform_has_no_arrivals(db):
    make_study(platform="")
    response = Client().get("/start/crowd/?PROLIFIC_PID=a")
    assert response.status_code == 403
    assert "open your personal link" in response.content.decode()


def test_full_study_turns_newcomers_away(db):
    study = make_study(texts=2, raters_per_item=1, training=0)
    Walker(Client(), study, "first").prepare()
    walker = Walker(Client(), study, "first")
    walker.arrive()
    walker.begin()
    response = Client().get(arrival_url(study, "second"))
    assert response.status_code == 403
    assert "All places" in response.content.decode()
    Part.objects.update(expires=timezone.now() - timedelta(minutes=1))
    assert Client().get(arrival_url(study, "second")).status_code == 200


def test_study_filled_up_during_the_terms_refuses_the_newcomer(db):
    study = make_study(texts=2, raters_per_item=1, training=0)
    slow = Client()
    assert slow.get(arrival_url(study, "slow")).status_code == 200
    quick = Walker(Client(), study, "quick")
    quick.prepare()
    quick.begin()
    response = join(study, "slow", client=slow)
    assert response.status_code == 403
    assert "All places" in response.content.decode()
    assert Participant.objects.count() == 1


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_participant_can_return_in_any_state_of_the_study(study, state):
    walker = Walker(Client(), study)
    walker.prepare()
    walker.begin()
    study.state = state
    study.save()
    page = Walker(Client(), study).arrive()
    assert page.status_code == 200
    assert page.redirect_chain == [("/work/in/crowd/", 302)]


def test_staff_are_not_made_workers_by_opening_the_link(cast, study):
    for name in ("admin", "researcher"):
        client = cast.client(name)
        before = people()
        page = client.get(arrival_url(study))
        assert page.status_code == 200
        assert "This is a participant’s way in" in page.content.decode()
        assert int(client.session["_auth_user_id"]) == getattr(cast, name).pk
        assert people() == before
    response = client.post("/logout/", {"next": arrival_url(study)})
    assert response.url == arrival_url(study)


def test_whoever_was_logged_in_is_logged_out(cast, study):
    client = cast.client("worker")
    join(study, client=client)
    assert int(client.session["_auth_user_id"]) == Participant.objects.get().rater.user_id


def test_open_page_of_the_same_person_can_still_send(study):
    client = Client(enforce_csrf_checks=True)
    join(study, client=client)
    page = client.get(arrival_url(study), follow=True)
    assert page.redirect_chain[-1][0] == "/work/in/crowd/check/"
    token = page.context["csrf_token"]
    client.get(arrival_url(study))  # in another tab
    sent = client.post(
        "/work/in/crowd/check/", {"step": "screening", "tries": 0, "csrfmiddlewaretoken": token}
    )
    assert sent.status_code == 422


def test_terms_in_two_tabs_can_be_answered_in_both(study):
    client = Client(enforce_csrf_checks=True)
    for _ in range(2):
        client.get(arrival_url(study))
    for decision in ("agree", "agree", "decline"):  # the first one counts
        sent = client.post(arrival_url(study), terms(study, decision), follow=True)
        assert sent.redirect_chain[-1][0] == "/work/in/crowd/check/"
    participant = Participant.objects.get()
    assert (participant.outcome, participant.consent_version) == ("", "2")


def test_staff_do_not_answer_the_terms(cast, study):
    page = join(study, client=cast.client("researcher"))
    assert "This is a participant’s way in" in page.content.decode()
    assert not Participant.objects.exists()


def test_closed_account_does_not_come_in(study):
    join(study)
    User.objects.update(is_active=False)
    response = Client().get(arrival_url(study))
    assert response.status_code == 403
    assert "no longer take part" in response.content.decode()


def test_erased_participant_cannot_join_again(cast, study):
    join(study)
    actions.erase(Participant.objects.get(), cast.admin, with_notes=False)
    response = Client().get(arrival_url(study))
    assert response.status_code == 403
    assert "Your data in this study was deleted" in response.content.decode()
    assert Participant.objects.count() == 1


def test_new_submission_for_an_unfinished_part_is_noted_on_it(study):
    walker = Walker(Client(), study)
    walker.prepare()
    walker.begin()
    assert Part.objects.values_list("study_id", "session_id").get() == ("st1", "sub1")
    Walker(Client(), study).arrive(session="sub2", study="st2")
    assert Part.objects.values_list("study_id", "session_id").get() == ("st2", "sub2")
    Client().get(f"/start/crowd/?PROLIFIC_PID={PID}")
    assert Part.objects.values_list("study_id", "session_id").get() == ("st2", "sub2")


@pytest.mark.parametrize("path", ["/invited/1.x/", "/take-part/1.x/"])
def test_incomplete_link_says_how_to_get_the_whole(study, path):
    response = Client().get(path)
    assert response.status_code == 404
    assert "Copy the whole link from your message." in text_of_page(response)
    german = Client()
    german.cookies["language"] = "de"  # of the person's last study
    assert "Kopieren Sie den ganzen Link" in text_of_page(german.get(path))


def test_doors_are_only_gone_through(study):
    assert Client().post("/invited/1.x/").status_code == 405
    assert Client().put(arrival_url(study)).status_code == 405


def test_too_many_arrivals_from_one_address_wait(study, monkeypatch, caplog):
    monkeypatch.setattr(Arrivals, "rate", "3/min", raising=False)
    for number in range(3):
        assert Client().get(arrival_url(study, f"p{number}")).status_code == 200
    for ask in (lambda: Client().get(arrival_url(study)), lambda: join(study)):
        refused = ask()
        assert refused.status_code == 429
        assert 0 < int(refused["Retry-After"]) <= 60
        assert "Please wait a minute" in refused.content.decode()
        assert "return your submission" not in refused.content.decode()
    assert "throttled for 127.0.0.1" in caplog.text
    assert not Participant.objects.exists()
    assert Client().get(arrival_url(study), REMOTE_ADDR="192.0.2.7").status_code == 200


@pytest.mark.parametrize(
    ("proxies", "meta", "address"),
    [
        (0, {"REMOTE_ADDR": "192.0.2.1", "HTTP_X_FORWARDED_FOR": "198.51.100.9"}, "192.0.2.1"),
        (1, {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "1.1.1.1, 198.51.100.9"}, "198.51.100.9"),
        (1, {"REMOTE_ADDR": "192.0.2.1"}, "192.0.2.1"),
        (0, {"REMOTE_ADDR": "2001:db8:1:2:3::4"}, "2001:db8:1:2::/64"),
        (0, {"REMOTE_ADDR": "::ffff:192.0.2.1"}, "192.0.2.1"),
        (1, {"HTTP_X_FORWARDED_FOR": "nonsense"}, "nonsense"),
    ],
)  # fmt: skip
def test_client_address_behind_proxies(monkeypatch, proxies, meta, address):
    monkeypatch.setattr(api_settings, "NUM_PROXIES", proxies, raising=False)
    assert address_of(RequestFactory().get("/", **meta)) == address


def test_study_that_is_not_there_is_not_found(db):
    assert Client().get("/start/nowhere/?PROLIFIC_PID=a").status_code == 404
