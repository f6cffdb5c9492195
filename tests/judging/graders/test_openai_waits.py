"""Backoff of the client before a retry, and conditions for no retry."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from judging.llm import retry
from judging.llm.errors import BackendUnavailableError
from tests.toolbox.scripted_server import reply_with, status

PAST = format_datetime(datetime.now(UTC) - timedelta(minutes=5), usegmt=True)


@pytest.mark.parametrize("value", ["0", "0.0", pytest.param(PAST, id="a date that is past")])
@pytest.mark.parametrize("number", [429, 503])
def test_to_be_asked_back_at_once_is_no_leave_to_storm(server, ask, monkeypatch, number, value):
    wait_seconds = []

    def longest(least, maximum):
        wait_seconds.append(maximum)
        return 0.0

    monkeypatch.setattr(retry.random, "uniform", longest)
    trouble = status(number, headers={"Retry-After": value})
    server.script("Q", *[trouble] * 5, reply_with("4"))
    assert ask("Q")["Q"].grade == 4
    # Of one half, one, two, ... times the first wait, as far as the longest.
    assert wait_seconds == [0.02, 0.04, 0.08, 0.1, 0.1]


def test_server_that_wants_to_be_paid_is_not_asked_about_every_pair(server, ask):
    server.script("Q1", status(402, "Insufficient credits"))
    with pytest.raises(
        BackendUnavailableError, match=r"wants to be paid \(status 402\): Insufficient credits"
    ):
        ask("Q1", *(f"Other {number}" for number in range(20)), concurrency=1)
    assert sum(server.asked.values()) < 5


@pytest.mark.timing
def test_server_that_does_not_answer_is_told_of_once(server, ask, monkeypatch, caplog):
    monkeypatch.setattr(retry, "SILENCE", 0.1)
    server.stop()
    with pytest.raises(BackendUnavailableError):
        ask("Q1", "Q2", key="sk-secret-0123456789", retry_seconds=1)
    server.start()
    [warning] = [
        record.getMessage() for record in caplog.records if "does not answer" in record.msg
    ]
    assert "It has 1 seconds" in warning
    assert "sk-secret" not in warning
