"""A browser that has logged in before: wrong passwords of others do not lock it out."""

import pytest
from django.core import signing
from django.core.cache import caches
from django.test import Client

from annotation.models import Invitation, Membership, Project
from crux_site.login import known_browser, rate_limit

PASSWORD = "pass-word-1"


@pytest.fixture(autouse=True)
def _own_counts(django_db_setup, django_db_blocker, monkeypatch):
    """A few tries are enough; the table of tries is no model's, so it is emptied by hand."""
    monkeypatch.setattr(rate_limit, "MAX_ATTEMPTS", {"address": 6, "account": 3, "browser": 2})
    yield
    with django_db_blocker.unblock():
        caches["log-ins"].clear()


def log_in(client: Client, name="wil", password=PASSWORD):
    return client.post("/login/", {"username": name, "password": password})


def known_client(name="wil") -> Client:
    client = Client()
    assert log_in(client, name).status_code == 302
    client.post("/logout/")
    return client


def lock_address() -> None:
    codes = [log_in(Client(), f"nobody{number}", "guess").status_code for number in range(7)]
    assert codes == [200] * 6 + [429]


def test_known_browser_gets_through_a_locked_address_with_the_right_password(cast):
    browser = known_client()
    lock_address()
    assert log_in(Client()).status_code == 429
    assert log_in(browser).status_code == 302


def test_known_browser_gets_through_a_locked_account(cast):
    browser = known_client()
    for _ in range(3):
        log_in(Client(), password="guess")
    assert log_in(Client()).status_code == 429
    assert log_in(browser).status_code == 302


def test_known_browser_is_known_for_its_own_accounts_alone(cast):
    browser = known_client("wil")
    lock_address()
    assert log_in(browser, "uma").status_code == 429
    caches["log-ins"].clear()
    log_in(browser, "uma")
    browser.post("/logout/")
    lock_address()
    assert (log_in(browser, "uma").status_code, log_in(browser, "wil").status_code) == (302, 302)


def test_wrong_passwords_of_a_known_browser_are_counted_apart(cast):
    browser = known_client()
    assert [log_in(browser, password="guess").status_code for _ in range(3)] == [200, 200, 429]
    assert log_in(browser).status_code == 429
    assert log_in(Client()).status_code == 302  # neither the address nor the account is locked
    assert log_in(known_client()).status_code == 302


@pytest.mark.parametrize("value", ["x", "", "name.1", "."])
def test_cookie_that_the_site_has_not_signed_is_ignored(cast, value):
    lock_address()
    client = Client()
    client.cookies[known_browser.COOKIE] = value
    assert log_in(client).status_code == 429
    other_salt = signing.get_cookie_signer(salt="shared").sign(f"name.{cast.worker.pk}")
    client.cookies[known_browser.COOKIE] = other_salt
    assert log_in(client).status_code == 429


def test_cookie_names_accounts_by_key_and_is_not_for_scripts(cast):
    client = Client()
    log_in(client)
    cookie = client.cookies[known_browser.COOKIE]
    assert cookie["httponly"]
    assert (cookie["samesite"], cookie["max-age"]) == ("Lax", known_browser.YEAR)
    assert "wil" not in cookie.value
    browser = cookie.value.split(".")[0]
    for name in ("uma", "rosa", "uma"):
        log_in(client, name)
    parts = client.cookies[known_browser.COOKIE].value.rsplit(":", 2)[0].split(".")
    keys = [str(person.pk) for person in (cast.other_worker, cast.researcher, cast.worker)]
    assert parts == [browser, *keys]


def test_wrong_password_makes_no_browser_known(cast):
    client = Client()
    log_in(client, password="guess")
    assert known_browser.COOKIE not in client.cookies


def test_newcomer_and_who_changes_the_password_are_known(cast):
    project = Project.objects.create(slug="coast", title="Coast")
    Membership.objects.create(project=project, user=cast.researcher, role="owner")
    token = Invitation.objects.make(project, "viewer", "Reviewer", cast.researcher)
    client = Client()
    account = {"username": "cora", "password1": "grey-heron-8", "password2": "grey-heron-8"}
    assert client.post(f"/join/{token}/", account).status_code == 302
    lock_address()
    assert log_in(client, "cora", "grey-heron-8").status_code == 302
    worker = cast.client("worker")  # by a session of before the cookie
    caches["log-ins"].clear()
    sent = {"old_password": PASSWORD, "new_password1": "a-longer-word-2"}
    worker.post("/account/password/", sent | {"new_password2": "a-longer-word-2"})
    assert known_browser.COOKIE in worker.cookies
