"""Forms that are sent after the session has ended, or with the token of an earlier one."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.models import Answer, Campaign
from annotation.participation import entry
from tests.toolbox.prolific_study import make_study
from tests.toolbox.responses import markup
from tests.toolbox.task_answers import question

ORIGIN = {"Origin": "http://testserver"}
HEADING = "<h1>Not saved yet</h1>"
NOTE = 'Line 1\r\nLine "2" & <3>'


class Browser:
    """A client that checks tokens and sends forms with its origin, as browsers do."""

    def __init__(self, user=None):
        self.client = Client(enforce_csrf_checks=True)
        if user:
            self.log_in(user)

    def log_in(self, user):
        self.client.force_login(user)
        self.client.cookies.pop("csrftoken", None)  # each login has another token

    def token(self, url):
        return re.search(r'csrfmiddlewaretoken" value="(\w+)"', markup(self.client.get(url)))[1]

    def post(self, url, fields, **headers):
        return self.client.post(url, fields, headers=ORIGIN | headers)

    def send_again(self, page):
        """Press the button of the page that keeps a form."""
        form = page.content.decode().split("<form")[1]
        url = unescape(re.search(r'action="([^"]+)"', form)[1])
        fields = {}
        for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form):
            fields.setdefault(unescape(name), []).append(unescape(value))
        return self.post(url, fields)


@pytest.fixture
def answer_url(assignment):
    return f"/work/{assignment.pk}/answers/{question(assignment).pk}/"


@pytest.fixture
def fields(assignment):
    key = "6b1d3a8e-0000-4000-8000-000000000001"
    return {"key": key, "base": "", "grade": "0", "note": NOTE, "confidence": "low"}


def test_answer_sent_after_the_session_ended_is_saved_after_the_login(
    cast, assignment, answer_url, fields
):
    browser = Browser(cast.worker)
    fields["csrfmiddlewaretoken"] = browser.token(f"/work/{assignment.pk}/")
    browser.client.cookies.pop("sessionid")
    page = browser.post(answer_url, fields)
    assert page.status_code == 403
    assert HEADING in markup(page)
    assert "Log in to go on." in markup(page)
    assert 'href="/login/" target="_blank"' in markup(page)
    assert "no-store" in page.headers["Cache-Control"]
    assert HEADING in markup(browser.send_again(page))  # still logged out
    assert not Answer.objects.exists()
    browser.log_in(cast.worker)
    page = browser.send_again(page)
    assert HEADING in markup(page)
    assert "You are logged in as wil." in markup(page)
    assert browser.send_again(page).url == f"/work/{assignment.pk}/#q-1"
    answer = Answer.objects.get()
    assert (answer.grade, answer.note, answer.confidence) == (0, NOTE.replace("\r", ""), "low")


def test_form_with_the_token_of_an_earlier_login_is_kept(cast, assignment, answer_url, fields):
    browser = Browser(cast.worker)
    fields["csrfmiddlewaretoken"] = browser.token(f"/work/{assignment.pk}/")
    browser.log_in(cast.worker)
    browser.token(f"/work/{assignment.pk}/")
    page = browser.post(answer_url, fields)
    assert (page.status_code, Answer.objects.exists()) == (403, False)
    assert browser.send_again(page).status_code == 302
    assert Answer.objects.get().note == NOTE.replace("\r", "")


def test_form_with_several_values_of_a_field_is_kept(cast, assignment, answer_url, fields):
    browser = Browser(cast.worker)
    page = browser.post(answer_url, fields | {"grade": "1", "keep": ["0:3", "4:9"]})
    browser.send_again(page)
    assert [span["start"] for span in Answer.objects.get().spans] == [0, 4]


def test_guest_opens_the_study_again_and_sends_the_form(db):
    study = make_study(platform="", language="de", training=0, consent="")
    study.check_questions.all().delete()
    (participant,) = entry.make_links(study, ["Ann"])
    browser = Browser()
    link = entry.link_of(participant, browser.client.get("/login/").wsgi_request)
    browser.client.get(link)
    room = reverse("write_message", args=[study.slug])
    sent = {"body": "Eine Frage", "newest": "0", "csrfmiddlewaretoken": browser.token(room)}
    browser.client.cookies.pop("sessionid")
    page = browser.post(room, sent)
    with translation.override("de"):
        assert f"<h1>{translation.gettext('Not saved yet')}</h1>" in markup(page)
    assert "Link" in markup(page)
    assert "ein Konto mit Passwort?" in markup(page)
    browser.client.get(link)
    page = browser.send_again(page)
    assert "guest" not in markup(page)
    assert "w-" not in markup(page).split("<form")[0]
    assert browser.send_again(page).url == room
    assert participant.messages.get().body == "Eine Frage"


def test_guest_of_an_open_link_is_sent_to_the_personal_link(db):
    study = make_study(platform="", training=0, consent="", admits_anyone=True)
    entry.make_links(study, [""])
    browser = Browser()
    browser.client.cookies["csrftoken"] = "a" * 32
    page = browser.post(reverse("write_message", args=[study.slug]), {"body": "x", "newest": "0"})
    assert HEADING in markup(page)
    assert "open your personal link" in markup(page)
    assert "from where you came" not in markup(page)


def test_newcomer_without_cookies_is_not_told_to_log_in(db):
    study = make_study(platform="", training=0, admits_anyone=True)
    browser = Browser()
    url = entry.open_link_of(study, browser.client.get("/login/").wsgi_request)
    for cookies in ({}, {"csrftoken": "a" * 32}):
        browser.client.cookies.clear()
        browser.client.cookies.load(cookies)
        page = browser.post(url, {"decision": "agree"})
        assert page.status_code == 403
        assert HEADING not in markup(page)


def test_browser_that_refuses_cookies_gets_no_such_page(cast, answer_url, fields):
    assert HEADING not in markup(Browser().post(answer_url, fields))


def test_other_origins_scripts_and_passwords_get_no_such_page(cast, answer_url, fields):
    browser = Browser(cast.worker)
    for origin in ("null", "http://evil.example", "http://testserver.evil.example", ""):
        assert HEADING not in markup(browser.post(answer_url, fields, Origin=origin))
    assert HEADING not in markup(browser.client.post(answer_url, fields))
    by_script = browser.post(answer_url, fields, **{"X-Requested-With": "fetch"})
    assert HEADING not in markup(by_script)
    secret = browser.post("/account/password/", {"old_password": "grey-heron-7"})
    assert "grey-heron-7" not in markup(secret)
    for page_url in ("/projects/none/servers/new/", "/projects/none/servers/1/"):
        keyed = browser.post(page_url, {"key": "sk-grey-heron"})
        assert keyed.status_code == 403
        assert "sk-grey-heron" not in markup(keyed)
    stranger = Browser()
    assert HEADING not in markup(stranger.post("/login/", {"username": "wil", "password": "x"}))
    assert HEADING not in markup(browser.post("/logout/", {"next": "/"}))
    assert not Answer.objects.exists()


def test_script_that_is_logged_out_is_redirected_as_ever(cast, assignment, answer_url, fields):
    browser = Browser(cast.worker)
    fields["csrfmiddlewaretoken"] = browser.token(f"/work/{assignment.pk}/")
    browser.client.cookies.pop("sessionid")
    response = browser.post(answer_url, fields, **{"X-Requested-With": "fetch"})
    assert response.url.startswith("/login/")


def test_long_form_of_a_researcher_is_kept(cast, campaign):
    Campaign.objects.update(state="draft")
    browser = Browser(cast.admin)
    page_url = f"/campaigns/{campaign.slug}/edit/guideline/"
    sent = {"guideline": "x\n" * 5000, "csrfmiddlewaretoken": browser.token(page_url)}
    browser.client.cookies.pop("sessionid")
    page = browser.post(f"{page_url}?a=1&b=2", sent)
    assert HEADING in markup(page)
    browser.log_in(cast.admin)
    page = browser.send_again(browser.send_again(page))
    assert page.request["QUERY_STRING"] == "a=1&b=2"
    assert page.content.decode().count("x\n") > 4000
