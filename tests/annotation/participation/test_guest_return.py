"""A guest whose session is over: told to open the study again, never asked for a password."""

from copy import deepcopy

import pytest
from django.test import Client
from django.utils import translation

from annotation.models import Participant, User
from annotation.participation import entry
from tests.toolbox.answers import assignment_of
from tests.toolbox.factories import make_campaign
from tests.toolbox.prolific_study import Walker, arrival_url, join, make_study

RETURN_URL = "/start/crowd/again/"


@pytest.fixture(scope="module")
def begun(shared_world):
    """Somebody from Prolific in their first part."""

    def make() -> Walker:
        walker = Walker(Client(), make_study())
        walker.prepare()
        walker.begin()
        return walker

    return shared_world(make)


@pytest.fixture
def walker(db, begun):
    return deepcopy(begun)


@pytest.fixture
def study(request, db):
    """The walker's study, or an empty one where a test has no walker."""
    if "walker" in request.fixturenames:
        return request.getfixturevalue("walker").campaign
    return make_study()


def lose(client: Client, *cookies: str) -> None:
    for name in cookies:
        del client.cookies[name]


def addresses(walker) -> list[str]:
    pk = walker.in_hand()[0].pk
    return [
        *(f"/work/{pk}/", f"/work/{pk}/state/", f"/work/{pk}/feedback/"),
        *(walker.room + page for page in ("", "consent/", "check/", "end/")),
    ]


def test_pages_of_the_work_lead_to_the_way_back(walker):
    lose(walker.client, "sessionid")
    for url in [*addresses(walker), "/", "/work/"]:
        page = walker.client.get(url, follow=True)
        assert page.redirect_chain == [(RETURN_URL, 302)], url
    html = page.content.decode()
    assert "open the study again from where you came: on Prolific" in html
    assert "Nothing is lost" in html
    assert 'type="password"' not in html
    assert "was not saved" not in html


def test_browser_that_lost_all_its_cookies_is_known_by_the_address(walker):
    lose(walker.client, "sessionid", "guest")
    for url in addresses(walker):
        assert walker.client.get(url).url == RETURN_URL, url


def test_unsent_form_is_reported(walker):
    pk = walker.in_hand()[0].pk
    lose(walker.client, "sessionid")
    for url in (f"/work/{pk}/submit/", f"/work/{pk}/skip/", f"{walker.room}begin/"):
        page = walker.client.post(url, follow=True)
        assert page.redirect_chain == [(f"{RETURN_URL}?unsent", 302)]
        assert "Please send it again when you are back" in page.content.decode()


def test_logging_out_leads_there_too(walker):
    assert 'name="next" value="/"' in walker.client.get("/work/").content.decode()
    page = walker.client.post("/logout/", {"next": "/"}, follow=True)
    assert page.redirect_chain[-1] == (RETURN_URL, 302)


def test_coming_again_goes_on_where_it_was(walker):
    lose(walker.client, "sessionid")
    assert "1 of 2" in walker.arrive().content.decode()
    assert walker.client.get(RETURN_URL, follow=True).redirect_chain == [
        ("/", 302),
        ("/work/", 302),
    ]


def test_by_a_link_it_is_the_link_and_in_the_language_of_the_study(db):
    study = make_study(platform="", language="de")
    (participant,) = entry.make_links(study, ["Ann"])
    client = Client()
    client.get(entry.link_of(participant, client.get("/login/").wsgi_request))
    lose(client, "sessionid")
    with translation.override("de"):
        message = translation.gettext("You are logged out")
    page = client.get("/work/", follow=True).content.decode()
    assert f"<h1>{message}</h1>" in page
    assert "Prolific" not in page


def test_erased_guest_is_not_asked_for_a_password(walker):
    Participant.objects.get().rater.user.delete()
    lose(walker.client, "sessionid")
    assert walker.client.get("/work/").url == RETURN_URL


def test_people_with_a_password_log_in_as_ever(cast, study, dataset):
    assignment = assignment_of(make_campaign(dataset, cast.worker), cast.worker, "oracle")
    stranger = Client()
    work = f"/work/{assignment.pk}/"
    for url in ("/", "/work/", work, "/work/in/ferry-answerable/", "/work/999999/"):
        assert stranger.get(url).url == f"/login/?next={url}"
    stranger.get(arrival_url(study))  # tried the link out in this browser
    stranger.post("/logout/")
    for url in ("/datasets/", "/campaigns/crowd/"):
        assert stranger.get(url).url == f"/login/?next={url}"
    assert 'type="password"' in stranger.get("/login/").content.decode()
    assert 'href="/login/"' in stranger.get(RETURN_URL).content.decode()


@pytest.mark.parametrize("value", ["nowhere", "", "a\\000b", "é", "x" * 4000])
def test_cookie_of_an_unknown_study_is_ignored(study, value):
    client = Client(headers={"cookie": f'guest="{value}"'})
    assert client.get("/").url == "/login/?next=/"


def test_draft_has_no_way_back(walker, study):
    study.state = "draft"
    study.save()
    lose(walker.client, "sessionid")
    assert walker.client.get("/work/").url == "/login/?next=/work/"
    assert walker.client.get(RETURN_URL).status_code == 404


def test_return_page_is_read_only_and_needs_an_existing_study(study):
    assert Client().post(RETURN_URL).status_code == 405
    assert Client().get("/start/nowhere/again/").status_code == 404


def test_scripts_tell_a_guest_the_same(walker):
    pk = walker.in_hand()[0].pk
    for url in (f"/work/{pk}/", walker.room):
        page = walker.client.get(url).content.decode()
        assert "Open the study again from where you came, then it is sent" in page
        assert "log in" not in page.lower().partition('id="words"')[2].replace("logged in", "")


def test_account_in_a_study_of_guests_is_asked_for_its_password(walker, study):
    join(study, "somebody else")
    pk = walker.in_hand()[0].pk
    User.objects.filter(rater=walker.participant.rater).update(is_guest=False)
    assert Client().get(f"/work/{pk}/").url == f"/login/?next=/work/{pk}/"
