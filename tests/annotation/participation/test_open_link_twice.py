"""“I agree” pressed twice at the open link of a campaign: one person stays one guest."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Campaign, Participant, Rater, User
from annotation.participation import entry
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.prolific_study import join_by_open_link as join
from tests.toolbox.prolific_study import make_study
from tests.toolbox.prolific_study import open_link as link
from tests.toolbox.responses import markup


@pytest.fixture
def study(db):
    return make_open_study("bridges")


def make_open_study(slug):
    study = make_study(slug, training=0)
    study.check_questions.all().delete()
    Campaign.objects.filter(pk=study.pk).update(platform="", admits_anyone=True)
    study.refresh_from_db()
    return study


def opened(study, client=None):
    """A browser that checks the token of forms, and the form of the open link."""
    client = client or Client(enforce_csrf_checks=True)
    page = markup(client.get(link(study)))
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
    return client, {"decision": "agree", "csrfmiddlewaretoken": token}


def press(client, study, form):
    """Send the form as a browser does that has not received an earlier reply."""
    browser = Client(enforce_csrf_checks=True)
    browser.cookies.load(client.cookies.output(header="", sep=";"))
    return browser, browser.post(link(study), form)


def test_second_press_continues_as_the_same_guest(study):
    client, form = opened(study)
    browsers = [press(client, study, form) for _ in range(2)]
    guest = User.objects.get(is_guest=True)
    assert (Participant.objects.count(), Rater.objects.filter(user=guest).count()) == (1, 1)
    for browser, response in browsers:
        assert (response.status_code, response.url) == (302, f"/work/in/{study.slug}/")
        assert int(browser.session["_auth_user_id"]) == guest.pk
        assert browser.get(response.url).status_code == 200


def test_second_tab_continues_as_the_same_guest(study):
    client, form = opened(study)
    _, other_form = opened(study, client)
    for sent in (form, other_form):
        response = client.post(link(study), sent)
        assert (response.status_code, response.url) == (302, f"/work/in/{study.slug}/")
    assert Participant.objects.count() == 1


def test_second_tab_that_declines_continues_as_the_guest(study):
    client, form = opened(study)
    client.post(link(study), form)
    response = client.post(link(study), form | {"decision": "decline"})
    assert response.url == f"/work/in/{study.slug}/"
    assert not Participant.objects.get().outcome


def test_copy_of_the_browser_is_another_guest_later(study):
    """Machines that are restored from one image have the same secret."""
    client, form = opened(study)
    press(client, study, form)
    Participant.objects.update(joined=timezone.now() - entry.SECOND_PRESS)
    for number in (2, 3):
        browser, response = press(client, study, form)
        assert (response.status_code, Participant.objects.count()) == (302, number)
        newest = Participant.objects.latest("pk").rater.user_id
        assert int(browser.session["_auth_user_id"]) == newest


def test_next_person_at_the_browser_is_another_guest(study):
    client, form = opened(study)
    client.post(link(study), form)
    client.logout()
    assert client.post(link(study), form).status_code == 403  # the page of the person before
    assert Participant.objects.count() == 1
    _, form = opened(study, client)
    client.post(link(study), form)
    assert Participant.objects.count() == 2


def test_browser_is_another_guest_in_another_campaign(study):
    second_study = make_open_study("other")
    client, form = opened(study)
    press(client, study, form)
    press(client, second_study, form)
    assert len(set(Participant.objects.values_list("rater__user", flat=True))) == 2


def test_equal_pseudonyms_of_two_guests_are_kept_apart(study, monkeypatch):
    """Names show few digits of a digest; the account is found by more of them."""
    secrets = {}
    monkeypatch.setattr(
        entry,
        "_digest",
        lambda *fields: "0123456789" + str(secrets.setdefault(fields[-1], len(secrets))) * 54,
    )
    join(study)
    join(study)
    names = set(Participant.objects.values_list("rater__name", flat=True))
    assert names == {"w-0123456789", "w-0123456789" + "1" * 54}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("after_reading", [None, Participant])
def test_both_presses_at_once_create_one_guest(transactional_db, study, after_reading):
    client, form = opened(study)
    presses = [lambda: press(client, study, form)[1]] * 3
    outcomes = at_once(*presses, after_reading=after_reading)
    assert [outcome.status for outcome in outcomes] == [302] * 3
    assert Participant.objects.count() == User.objects.filter(is_guest=True).count() == 1
