"""The session: who is logged in and until when, and putting off its end."""

import time

import pytest
from django.conf import settings


def test_session_returns_account_and_end(cast):
    before = int(time.time())
    session = cast.client("worker").get("/session/").json()
    assert session["user"] == cast.worker.pk
    assert before <= session["ends"] - settings.SESSION_COOKIE_AGE <= time.time()


def test_post_begins_the_time_anew(cast):
    client = cast.client("worker")
    session = client.session
    session["ends"] = 1000
    session.save()
    assert client.get("/session/").json()["ends"] == 1000
    response = client.post("/session/", headers={"X-Requested-With": "fetch"})
    assert response.json()["ends"] > time.time()
    cookie = response.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["max-age"] == settings.SESSION_COOKIE_AGE


def test_session_from_before_has_no_end_until_it_is_asked_for(cast):
    client = cast.client("worker")
    session = client.session
    del session["ends"]
    session.save()
    assert client.get("/session/").json()["ends"] is None
    client.post("/session/")
    assert client.get("/session/").json()["ends"] is not None


@pytest.mark.parametrize(
    ("sent", "goes"), [("/work/", "/work/"), ("//evil.example/", "home"), ("", "home")]
)
def test_without_scripts_it_is_a_form_that_leads_back(cast, sent, goes):
    response = cast.client("worker").post("/session/", {"next": sent})
    assert response.status_code == 302
    assert response.url == ("/" if goes == "home" else goes)


def test_stranger_is_sent_to_the_login_page(cast):
    assert cast.client("stranger").get("/session/").url.startswith("/login/")


def test_other_methods_are_refused(cast):
    assert cast.client("worker").delete("/session/").status_code == 405


def test_page_of_an_item_prints_the_end_and_is_never_kept(cast, assignment):
    client = cast.client("worker")
    response = client.get(assignment.get_absolute_url())
    assert f'data-session-ends="{client.session["ends"]}"' in response.content.decode()
    assert "no-store" in response["Cache-Control"]


@pytest.mark.parametrize(
    ("cookies", "printed"),
    [
        ({"text-size": "large", "line-length": "long"}, ['data-text-size="large"', "long"]),
        ({"text-size": '"><script>', "line-length": "wide"}, []),
    ],
)
def test_text_size_and_line_length_come_from_cookies(cast, cookies, printed):
    client = cast.client("worker")
    client.cookies.load(cookies)
    head = client.get("/work/").content.decode().split("<head>")[0]
    assert all(attribute in head for attribute in printed)
    assert ("data-" in head) == bool(printed)
