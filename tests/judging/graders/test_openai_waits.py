"""How long the client waits before it asks again, and when it does not ask again at all."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from judging.graders import patience
from judging.graders.base import Unavailable
from tests.judging.graders.scripted_server import said, status

PAST = format_datetime(datetime.now(UTC) - timedelta(minutes=5), usegmt=True)


@pytest.mark.parametrize("value", ["0", "0.0", pytest.param(PAST, id="a date that is past")])
@pytest.mark.parametrize("number", [429, 503])
def test_to_be_asked_back_at_once_is_no_leave_to_storm(server, ask, monkeypatch, number, value):
    waits = []

    def longest(least, most):
        waits.append(most)
        return 0.0

    monkeypatch.setattr(patience.random, "uniform", longest)
    trouble = status(number, headers={"Retry-After": value})
    server.script("Q", *[trouble] * 5, said("4"))
    assert ask("Q")["Q"].grade == 4
    # Of one half, one, two, ... times the first wait, as far as the longest.
    assert waits == [0.02, 0.04, 0.08, 0.1, 0.1]


def test_a_server_that_wants_to_be_paid_is_not_asked_about_every_pair(server, ask):
    server.script("Q1", status(402, "Insufficient credits"))
    with pytest.raises(Unavailable, match=r"wants to be paid \(status 402\): Insufficient credits"):
        ask("Q1", *(f"Other {number}" for number in range(20)), concurrency=1)
    assert sum(server.asked.values()) < 5


@pytest.mark.timing
def test_a_server_that_does_not_answer_is_told_of_once(server, ask, monkeypatch, caplog):
    monkeypatch.setattr(patience, "SILENCE", 0.1)
    server.stop()
    with pytest.raises(Unavailable):
        ask("Q1", "Q2", key="sk-secret-0123456789", patience=1)
    server.start()
    [told] = [record.getMessage() for record in caplog.records if "does not answer" in record.msg]
    assert "It has 1 seconds" in told
    assert "sk-secret" not in told
