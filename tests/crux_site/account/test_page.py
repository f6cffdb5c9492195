"""The own account: its password, and its tokens; nobody else's."""

import hashlib
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import ApiToken, User
from crux_site.account.forms import MOST_TOKENS
from crux_site.login import rate_limit
from tests.toolbox.users import make_cast

PAGE = "/account/"
PASSWORD = "pass-word-1"
NEW = "a-longer-word-2"
DATASETS = "/api/v1/datasets/"


@pytest.fixture(scope="module", autouse=True)
def _kept_cast(shared_world):
    return shared_world(make_cast)


@pytest.fixture
def cast(_kept_cast, db):
    caches["log-ins"].clear()
    return _kept_cast


def change(client, old=PASSWORD, new=NEW, repeated=NEW):
    sent = {"old_password": old, "new_password1": new, "new_password2": repeated}
    return client.post(f"{PAGE}password/", sent)


def make(client, name="nightly export", days="90"):
    return client.post(f"{PAGE}tokens/", {"name": name, "days": days})


def comes_with(key: str) -> int:
    return APIClient(HTTP_AUTHORIZATION=f"Token {key}").get(DATASETS).status_code


def test_everybody_with_a_password_changes_the_own_one_and_other_sessions_end(cast):
    client, other_client = cast.client("worker"), cast.client("worker")
    assert "Change your password" in client.get(PAGE).content.decode()
    assert change(client).url == PAGE
    assert "Your password was changed." in client.get(PAGE).content.decode()
    assert other_client.get(PAGE).status_code == 302
    assert User.objects.get(pk=cast.worker.pk).check_password(NEW)
    assert User.objects.get(pk=cast.other_worker.pk).check_password(PASSWORD)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"old": "guess"}, "Your old password was entered incorrectly"),
        ({"repeated": "another-word-3"}, "The two password fields"),
        ({"new": "short", "repeated": "short"}, "This password is too short"),
        ({"new": "password", "repeated": "password"}, "This password is too common"),
        ({"new": "", "repeated": ""}, "This field is required"),
    ],
)
def test_password_that_will_not_do_changes_nothing(cast, sent, message):
    answer = change(cast.client("researcher"), **sent)
    assert (answer.status_code, message in answer.content.decode()) == (422, True)
    assert User.objects.get(pk=cast.researcher.pk).check_password(PASSWORD)


def test_guesses_at_the_old_password_count_as_tries_to_log_in(cast):
    client = cast.client("worker")
    max_attempts = rate_limit.MAX_ATTEMPTS["account"]
    assert [change(client, old="guess").status_code for _ in range(max_attempts)] == [
        422
    ] * max_attempts
    refused = change(client)
    assert (refused.status_code, "Too many wrong tries" in refused.content.decode()) == (429, True)
    assert int(refused["Retry-After"]) > 0
    assert User.objects.get(pk=cast.worker.pk).check_password(PASSWORD)


def test_worker_of_a_german_study_reads_german(cast):
    client = cast.client("worker")
    client.cookies["language"] = "de"
    page = client.get(PAGE).content.decode()
    assert "Passwort ändern" in page
    assert "Change your password" not in page
    wrong = change(client, old="guess", new="short", repeated="short").content.decode()
    assert "Das alte Passwort war falsch" in wrong
    assert "too short" not in wrong


def test_token_is_made_shown_once_kept_as_a_hash_and_revoked(cast):
    client = cast.client("researcher")
    assert "You have no tokens." in client.get(PAGE).content.decode()
    response = make(client)
    key = response.context["made"]
    assert key in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    token = ApiToken.objects.get(user=cast.researcher)
    assert token.digest == hashlib.sha256(key.encode()).hexdigest()
    assert timedelta(days=89) < token.expires - timezone.now() < timedelta(days=90)
    page = client.get(PAGE).content.decode()
    assert ("nightly export" in page, key in page) == (True, False)

    second_key = make(client, "notebook", days="0").context["made"]
    assert (comes_with(key), comes_with(second_key)) == (200, 200)
    assert client.post(f"{PAGE}tokens/{token.pk}/revoke/").url == PAGE
    assert "The token nightly export is revoked." in client.get(PAGE).content.decode()
    assert (comes_with(key), comes_with(second_key)) == (401, 200)


def test_token_ends_when_it_expires(cast):
    client = cast.client("admin")
    key = make(client).context["made"]
    assert comes_with(key) == 200
    ApiToken.objects.update(expires=timezone.now())
    assert comes_with(key) == 401
    answer = APIClient(HTTP_AUTHORIZATION=f"Token {key}").get(DATASETS)
    assert answer.json()["detail"] == "This token has expired."
    assert "expired on" in client.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("name", "days", "message"),
    [
        ("", "90", "This field is required"),
        ("here already", "90", "You already have a token with this name. Revoke it first."),
        ("x" * 81, "90", "at most 80 characters"),
        ("a\x00b", "90", "Null characters are not allowed"),
        ("fine", "7", "Select a valid choice"),
    ],
)
def test_token_that_cannot_be_made_is_refused(cast, name, days, message):
    ApiToken.objects.make(cast.researcher, "here already")
    ApiToken.objects.make(cast.admin, "fine")  # another's name is nobody's concern
    answer = make(cast.client("researcher"), name, days)
    assert (answer.status_code, message in answer.content.decode()) == (422, True)
    assert cast.researcher.api_tokens.count() == 1


def test_token_limit_is_enforced(cast):
    for number in range(MOST_TOKENS):
        ApiToken.objects.make(cast.researcher, f"program {number}")
    answer = make(cast.client("researcher"), "one more")
    assert (answer.status_code, "You have 20 tokens" in answer.content.decode()) == (422, True)


def test_account_permissions_by_role(cast):
    ApiToken.objects.make(cast.admin, "of the admin")
    of_the_admin = ApiToken.objects.get()
    guest = User.objects.create_user("guest", is_guest=True)
    for name, page, tokens, revoke in (
        ("stranger", 302, 302, 302),
        ("worker", 200, 403, 403),
        ("researcher", 200, 422, 404),
    ):
        client = cast.client(name)
        assert client.get(PAGE).status_code == page
        assert client.post(f"{PAGE}tokens/").status_code == tokens
        assert client.post(f"{PAGE}tokens/{of_the_admin.pk}/revoke/").status_code == revoke
    client.force_login(guest)
    assert client.get(PAGE).status_code == 404
    assert change(client).status_code == 404
    assert cast.client("stranger").post(f"{PAGE}password/").status_code == 302
    admin = cast.client("admin")
    assert admin.post(PAGE).status_code == 405
    for address in ("password/", "tokens/", f"tokens/{of_the_admin.pk}/revoke/"):
        assert admin.get(PAGE + address).status_code == 405
    assert admin.post(f"{PAGE}tokens/0/revoke/").status_code == 404
    assert "API tokens" not in cast.client("worker").get(PAGE).content.decode()
    assert ApiToken.objects.get() == of_the_admin


def test_command_makes_one_for_somebody_else(cast, capsys):
    call_command("make_token", "rosa", "cron", days="30")
    assert comes_with(capsys.readouterr().out.strip()) == 200
    for account, program, days, message in (
        ("nobody", "cron", "30", "There is no account called nobody."),
        ("wil", "cron", "30", "The API is for researchers and admins."),
        ("rosa", "cron", "30", "name: You already have a token with this name"),
        ("rosa", "other", "7", "days: Select a valid choice"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command("make_token", account, program, days=days)
    with pytest.raises(CommandError, match="choose from '30', '90', '365', '0'"):
        call_command("make_token", "rosa", "other", "--days", "31")


def test_password_change_revokes_tokens_if_asked(cast):
    client = cast.client("researcher")
    assert "Also revoke my API tokens" not in client.get(PAGE).content.decode()
    key = ApiToken.objects.make(cast.researcher, "notebook")
    ApiToken.objects.make(cast.admin, "of the admin")
    assert "Also revoke my API tokens" in client.get(PAGE).content.decode()
    assert change(client).status_code == 302
    assert comes_with(key) == 200
    sent = {"old_password": NEW, "new_password1": "one-more-word-3"}
    sent |= {"new_password2": "one-more-word-3", "revoke_tokens": "on"}
    assert client.post(f"{PAGE}password/", sent).status_code == 302
    assert (comes_with(key), ApiToken.objects.count()) == (401, 1)


def test_password_change_does_not_enable_an_account_disabled_meanwhile(cast, monkeypatch):
    """Somebody disables the account while the old password is checked."""
    checked = User.check_password

    def check_password(self, raw):
        User.objects.filter(pk=self.pk).update(is_active=False)
        return checked(self, raw)

    monkeypatch.setattr(User, "check_password", check_password)
    change(cast.client("worker"))
    assert not User.objects.get(pk=cast.worker.pk).is_active
