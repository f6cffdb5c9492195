"""first-admin/: the first account of a site, by a one-time token."""

from io import StringIO

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import User
from crux_site.login import first_admin_token, rate_limit
from tests.toolbox.concurrent_clients import at_once

URL = "/first-admin/"
PASSWORD = "pass-word-1"


@pytest.fixture(autouse=True)
def no_attempts_are_left(django_db_setup, django_db_blocker):
    """Clear the cache table: a test's rollback covers models, and the table has none."""
    yield
    with django_db_blocker.unblock():
        caches["log-ins"].clear()


def create(client=None, **changes):
    data = {"token": first_admin_token.current_token(), "username": "ada"}
    data |= {"password1": PASSWORD, "password2": PASSWORD} | changes
    return (client or Client()).post(URL, data)


@pytest.mark.parametrize("path", ["/", "/datasets/", "/people/", "/work/", "/admin/", "/login/"])
def test_pages_of_a_site_without_accounts_lead_to_it(client, db, path):
    response = client.get(path, follow=True)
    assert response.redirect_chain[-1][0] == URL
    page = response.content.decode()
    assert "<h1>First admin</h1>" in page
    assert first_admin_token.current_token() not in page


def test_token_of_the_address_is_in_the_form(client, db):
    page = client.get(first_admin_token.first_admin_url("")).content.decode()
    assert f'value="{first_admin_token.current_token()}"' in page


def test_right_token_creates_an_admin_and_logs_in(client, db):
    assert create(client).url == "/"
    admin = User.objects.get()
    assert (admin.username, admin.role, admin.is_superuser) == ("ada", "admin", False)
    assert admin.check_password(PASSWORD)
    assert client.get("/people/").status_code == 200
    assert client.get("/").status_code == 200
    assert "known_browser" in client.cookies


def test_used_token_creates_no_second_account(client, db):
    token = first_admin_token.current_token()
    create(client)
    for visitor in (client, Client()):
        assert visitor.get(URL, {"token": token}).status_code == 404
        assert create(visitor, username="eve").status_code == 404
    assert User.objects.count() == 1
    assert Client().get("/", follow=True).redirect_chain[-1][0] == "/login/?next=/"


@pytest.mark.parametrize("fields", [{"is_guest": True}, {"is_active": False}])
def test_any_account_ends_the_page(client, db, fields):
    User.objects.create_user("rosa", **fields)
    assert client.get(URL).status_code == 404
    assert create(client).status_code == 404
    assert client.get("/login/").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "é" * 32, "a" * 100_000, "nul\0"])
def test_wrong_token_is_refused(client, db, token):
    response = create(client, token=token)
    assert response.status_code == 422
    assert 'id="id_token_error"' in response.content.decode()
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"password1": "short", "password2": "short"}, "password2"),
        ({"password2": "pass-word-2"}, "password2"),
        ({"username": ""}, "username"),
        ({"username": "a b/c"}, "username"),
    ],
)
def test_bad_name_or_password_is_refused(client, db, changes, field):
    for _ in range(rate_limit.MAX_ATTEMPTS["account"] + 1):  # none counts as a wrong token
        response = create(client, **changes)
        assert response.status_code == 422
    assert f'id="id_{field}_error"' in response.content.decode()
    assert not User.objects.exists()
    assert create(client).status_code == 302


def test_wrong_tokens_are_rate_limited_as_passwords(client, db):
    n = rate_limit.MAX_ATTEMPTS["account"]
    assert {create(client, token=f"guess-{number}").status_code for number in range(n)} == {422}
    refused = create(client)  # even the right one
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= rate_limit.WINDOW
    page = refused.content.decode()
    assert "Too many wrong tries. Please try again in 10 minutes." in page
    assert 'value="ada"' in page
    assert PASSWORD not in page
    assert not User.objects.exists()
    caches["log-ins"].clear()
    assert create(client).status_code == 302


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options"])
def test_other_methods_are_refused(client, db, method):
    assert getattr(client, method)(URL).status_code == 405


def test_post_of_another_site_is_refused(db):
    assert create(Client(enforce_csrf_checks=True)).status_code == 403
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("names", [("ada", "eve"), ("ada", "ada")])
def test_two_browsers_at_once_create_one_admin(names):
    caches["log-ins"].clear()
    first, second = at_once(
        lambda: create(username=names[0]),
        lambda: create(username=names[1]),
        after_reading=User,
    )
    created, refused = sorted([first.status, second.status])
    assert created == 302
    assert refused in (404, 422)  # 422: the form found the name taken, before the lock
    assert User.objects.count() == 1


def test_token_depends_on_the_key_and_the_database(db, settings):
    first = first_admin_token.current_token()
    assert first_admin_token.current_token() == first
    first_admin_token.MigrationRecorder.Migration.objects.order_by("pk").first().delete()
    second = first_admin_token.current_token()
    settings.SECRET_KEY = "another"
    assert len({first, second, first_admin_token.current_token()}) == 3


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("first_admin", *arguments, stdout=out)
    return out.getvalue()


def test_command_prints_the_address(db):
    query = f"first-admin/?token={first_admin_token.current_token()}"
    assert printed() == f"http://127.0.0.1:8000/{query}\n"
    assert printed("--site", "https://crux.example.org/") == f"https://crux.example.org/{query}\n"


@pytest.mark.parametrize("host", ["crux.example.org", ".crux.example.org"])
def test_command_knows_the_host_behind_https(db, settings, host):
    settings.HTTPS, settings.ALLOWED_HOSTS = True, [host]
    assert printed().startswith("https://crux.example.org/first-admin/?token=")


def test_command_refuses_if_there_is_an_account(db):
    User.objects.create_user("rosa")
    with pytest.raises(CommandError, match="There is an account already"):
        printed()


def test_migrate_names_the_command_while_there_is_no_account(db):
    def output() -> str:
        out = StringIO()
        call_command("migrate", stdout=out)
        return out.getvalue()

    assert "There is no account yet: `first_admin` prints" in output()
    User.objects.create_user("rosa")
    assert "first_admin" not in output()
