"""manage.py doctor: each check, and what it says to do."""

import socket
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import User
from bench.ports import free_port
from tests.toolbox.judging_runs import a_judge, a_run

pytestmark = pytest.mark.django_db


def report(*arguments: str) -> tuple[str, str]:
    """Return the output of the command, and the error with which it ends."""
    out = StringIO()
    try:
        call_command("doctor", *arguments, stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


@pytest.fixture
def admin():
    return User.objects.create_user("ada", role=User.Role.ADMIN)


def test_site_in_order(admin, settings):
    settings.JUDGE_ENDPOINTS = {}
    text, error = report("--port", str(free_port()))
    assert error == ""
    lines = text.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "ok    Python",
        "ok    Data folder",
        "ok    Database",
        "ok    Admin",
        "ok    Workers",
        "ok    Port",
    ]


def test_site_without_an_admin_fails(settings):
    settings.JUDGE_ENDPOINTS = {}
    User.objects.create_user("rosa", role=User.Role.RESEARCHER)
    text, error = report("--port", str(free_port()))
    assert "FAIL  Admin: no admin can log in\n      Run: createsuperuser\n" in text
    assert error == "1 of 6 checks failed."


def test_site_without_accounts_fails(settings):
    settings.JUDGE_ENDPOINTS = {}
    text, error = report("--port", str(free_port()))
    assert "FAIL  Admin: there is no account yet\n      Run: first_admin, and open" in text
    assert error == "1 of 6 checks failed."


def test_taken_port_and_silent_model_server_are_notes(admin, settings):
    settings.JUDGE_ENDPOINTS = {"near": f"http://127.0.0.1:{free_port()}/v1", "odd": "ftp://x/"}
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        text, error = report("--port", port)
    assert error == ""
    assert f"note  Port: port {port} of 127.0.0.1 is taken" in text
    assert "note  Model server near: http://127.0.0.1:" in text
    assert "does not answer" in text
    assert "note  Model server odd: ftp://x/ is no http or https address" in text


def test_full_disk_fails(admin, settings, monkeypatch):
    monkeypatch.setattr("crux_site.management.commands.doctor.DISK_GIGABYTES", 1e9)
    text, error = report("--port", str(free_port()))
    assert "FAIL  Data folder" in text
    assert "Free at least 1 GB" in text
    assert error.endswith("checks failed.")


def test_run_that_nobody_works_at_is_a_note(admin, settings, dataset):
    settings.JUDGE_ENDPOINTS = {}
    a_run(a_judge(), dataset)
    text, error = report("--port", str(free_port()))
    assert (
        "note  Workers: waiting for a worker: 1 run\n      Run: worker (or judge_worker)\n" in text
    )
    assert error == ""
