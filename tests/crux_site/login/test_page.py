"""Logging in: how often a wrong password may be tried, and how many are checked at once."""

import threading

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.cache import caches
from django.core.management import call_command
from django.db import connections
from django.test import Client

from annotation.models import User
from crux_site.login import rate_limit
from tests.toolbox.clock import HANGS
from tests.toolbox.threads import in_threads

PASSWORD = "pass-word-1"


@pytest.fixture(autouse=True)
def counts_for_nobody_else(django_db_setup, django_db_blocker):
    """Clear the cache table: a test's rollback covers models, and the table has none."""
    yield
    with django_db_blocker.unblock():
        caches["log-ins"].clear()


def log_in(name, password, client=None, **meta):
    client = client or Client(**meta)
    return client.post("/login/", {"username": name, "password": password, "next": "/work/"})


def wrong(name, times, **meta):
    return [log_in(name, f"guess-{number}", **meta).status_code for number in range(times)]


def test_account_is_closed_to_tries_for_a_while(cast, caplog):
    max_attempts = rate_limit.MAX_ATTEMPTS["account"]
    assert wrong("wil", max_attempts) == [200] * max_attempts
    caplog.clear()
    refused = log_in("wil", PASSWORD)  # even the right one, and from elsewhere
    elsewhere = log_in("wil", PASSWORD, REMOTE_ADDR="192.0.2.9")
    assert (refused.status_code, elsewhere.status_code) == (429, 429)
    assert 0 < int(refused["Retry-After"]) <= rate_limit.WINDOW
    page = refused.content.decode()
    assert "Too many wrong tries. Please try again in 10 minutes." in page
    assert 'value="wil"' in page
    assert 'name="next" value="/work/"' in page
    assert caplog.messages.count("log-in throttled by account: 'wil'") == 2
    assert log_in("uma", PASSWORD).status_code == 302


def test_disabled_account_is_told(cast):
    User.objects.filter(username="wil").update(is_active=False)
    response = log_in("wil", PASSWORD)
    assert "This account was disabled." in response.content.decode()
    assert "_auth_user_id" not in response.client.session
    assert "was disabled" not in log_in("wil", "guess").content.decode()


def test_account_that_does_not_exist_is_throttled_alike(cast):
    max_attempts = rate_limit.MAX_ATTEMPTS["account"]
    assert wrong("nobody", max_attempts + 1) == [200] * max_attempts + [429]


def test_address_is_closed_to_tries_for_a_while(cast, monkeypatch, caplog):
    monkeypatch.setitem(rate_limit.MAX_ATTEMPTS, "address", 4)
    assert [wrong(f"name{number}", 1)[0] for number in range(5)] == [200] * 4 + [429]
    assert "log-in throttled by address: '127.0.0.1'" in caplog.messages
    assert log_in("wil", PASSWORD).status_code == 429
    assert log_in("wil", PASSWORD, REMOTE_ADDR="192.0.2.9").status_code == 302


def test_right_ones_do_not_count(cast, monkeypatch):
    monkeypatch.setattr(rate_limit, "MAX_ATTEMPTS", {"address": 2, "account": 2})
    assert wrong("wil", 1) == [200]
    for _ in range(4):
        assert log_in("wil", PASSWORD).status_code == 302
    assert wrong("wil", 2) == [200, 429]


def test_try_counts_for_a_while_alone(cast, monkeypatch):
    monkeypatch.setattr(rate_limit, "WINDOW", -1)
    assert set(wrong("wil", 12)) == {200}


def test_form_without_a_password_is_no_try(cast):
    for _ in range(12):
        assert log_in("wil", "").status_code == 200
    assert log_in("wil", PASSWORD).status_code == 302


def test_names_and_addresses_are_not_kept_in_the_clear(cast):
    wrong("wil", 1)
    with connections["default"].cursor() as cursor:
        cursor.execute("select * from crux_site_log_ins")
        rows = cursor.fetchall()
    assert len(rows) == 2
    assert "wil" not in str(rows)
    assert "127.0.0.1" not in str(rows)


def test_migrate_makes_the_table(db):
    with connections["default"].cursor() as cursor:
        cursor.execute("drop table crux_site_log_ins")
    call_command("migrate", verbosity=0)
    assert wrong("wil", 1) == [200]


@pytest.fixture
def slow_hashing(settings, monkeypatch):
    """Checks of a password that take until they are let go."""
    go, began = threading.Event(), threading.Semaphore(0)

    class Slow(MD5PasswordHasher):
        def encode(self, password, salt):
            if password.startswith("guess"):
                began.release()
                assert go.wait(30)
            return super().encode(password, salt)

    monkeypatch.setattr("tests.crux_site.login.test_page.Slow", Slow, raising=False)
    settings.PASSWORD_HASHERS = ["tests.crux_site.login.test_page.Slow"]
    yield go, began
    go.set()


@pytest.mark.django_db(transaction=True)
def test_dozen_wrong_ones_at_once_are_not_all_checked_at_once(slow_hashing):
    go, began = slow_hashing
    caches["log-ins"].clear()
    User.objects.create_user("wil", password=PASSWORD)
    codes = []

    def attack(number):
        codes.append(log_in(f"name{number}", "guess").status_code)
        if (
            len(codes) == 12 - rate_limit.MAX_CONCURRENT
        ):  # all others have their answer: let these end
            go.set()

    in_threads(attack, range(12), threads=12)
    assert sorted(codes) == [200] * rate_limit.MAX_CONCURRENT + [503] * (
        12 - rate_limit.MAX_CONCURRENT
    )
    for _ in range(rate_limit.MAX_CONCURRENT):
        assert began.acquire(blocking=False)
    assert not began.acquire(blocking=False)
    assert log_in("wil", PASSWORD).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_concurrent_log_in_is_told_to_retry(slow_hashing):
    go, began = slow_hashing
    caches["log-ins"].clear()
    User.objects.create_user("wil", password=PASSWORD)
    attackers = [
        threading.Thread(target=in_threads, args=(lambda name: log_in(name, "guess"), [name]))
        for name in ("a", "b")
    ]
    for attacker in attackers:
        attacker.start()
    for _ in attackers:
        assert began.acquire(timeout=HANGS)
    refused = log_in("wil", PASSWORD)
    assert refused.status_code == 503
    assert int(refused["Retry-After"]) > 0
    assert "Please try again." in refused.content.decode()
    assert Client().get("/login/").status_code == 200
    go.set()
    for attacker in attackers:
        attacker.join(HANGS)
    assert log_in("wil", PASSWORD).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_many_processes_count_together(monkeypatch):
    """Each thread is let through here, as threads of many processes are."""
    caches["log-ins"].clear()
    monkeypatch.setattr(rate_limit, "_concurrent_checks", threading.BoundedSemaphore(16))
    codes = in_threads(lambda number: log_in("wil", f"guess-{number}").status_code, range(24))
    assert sorted(codes) == [200] * 10 + [429] * 14
