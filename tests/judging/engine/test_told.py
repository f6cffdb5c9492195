"""Validation of a run's options without a form: numbers, addresses, prices."""

import math

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset
from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.selection import Selection
from judging.execution import states
from judging.models import JudgeRun
from judging.offline import exchange
from tests.toolbox.judging_study import WORKER, Scripted, a_judge, make_study, planned

SERVER = "http://127.0.0.1:9/v1"


@pytest.fixture
def judge(db):
    make_study()
    return a_judge()


def command(**options):
    options.setdefault("endpoint", SERVER)
    call_command("judge", "study", judge="judge", verbosity=0, **options)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"max_pairs": -1}, "max pairs of a run is more than 0"),
        ({"max_pairs": 0}, "max pairs of a run is more than 0"),
        ({"max_tokens": 2**63}, "max tokens"),
        ({"max_money": math.nan, "price_in": 1.0}, "max money"),
        ({"max_money": 0.0, "price_in": 1.0}, "max money"),
        ({"price_in": -0.1}, "A price must be 0 or more"),
        ({"price_out": math.nan}, "A price must be 0 or more"),
        ({"concurrency": 100_000}, "concurrency of a run is more than 0 and at most 4,096"),
        ({"endpoint": "https://me:secret@gpu/v1"}, "must not hold a name or a password"),
        ({"endpoint": "https://gpu/v1?api_key=secret"}, "a key belongs in the environment"),
        ({"endpoint": "http://[::1/v1"}, "cannot be read"),
        ({"endpoint": "http://gpu:port/v1"}, "cannot be read"),
        ({"endpoint": "ftp://gpu/v1"}, "must begin with http"),
    ],
)
def test_invalid_options_are_refused_and_create_nothing(judge, options, refusal):
    with pytest.raises(CommandError, match=refusal) as caught:
        command(**options)
    assert "secret" not in str(caught.value)
    assert not JudgeRun.objects.exists()


def test_resuming_refuses_the_same_and_changes_nothing(judge):
    run = planned(judge, Dataset.objects.get())
    states.pause(run)
    with pytest.raises(states.RunStateError, match="max pairs"):
        runs.resume(run, max_pairs=-1)
    run.refresh_from_db()
    assert (run.state, run.max_pairs) == ("paused", None)


def test_new_endpoint_has_its_own_prices(judge, settings):
    settings.JUDGE_PRICES = {"cheap": "0.1/0.4/EUR", "dear": "10/40/USD"}
    run = planned(judge, Dataset.objects.get(), endpoint="cheap", max_money=5)
    assert (run.price_in, run.price_out, run.currency) == (0.1, 0.4, "EUR")
    states.pause(run)
    runs.resume(run, endpoint="dear")
    assert (run.price_in, run.price_out, run.currency) == (10, 40, "USD")
    states.pause(run)
    runs.resume(run, endpoint="cheap", price_in=3.0)
    assert (run.price_in, run.price_out) == (3, 0)
    states.pause(run)
    with pytest.raises(states.RunStateError, match="prices of tokens"):
        runs.resume(run, endpoint="unknown")


def test_same_command_with_another_budget_is_no_budget_and_is_refused(judge, monkeypatch):
    run = planned(judge, Dataset.objects.get(), endpoint=SERVER, max_pairs=9)
    for options in (
        {"max_money": 5.0},
        {"max_pairs": 10},
        {"endpoint": "there"},
        {"concurrency": 8},
    ):
        option = next(iter(options)).replace("_", "-")
        with pytest.raises(CommandError, match=f"running with another --{option}: pause it first"):
            command(**options)
    run.refresh_from_db()
    assert (run.state, run.endpoint, run.max_pairs) == ("running", SERVER, 9)
    # The same ones are no change, and a second process may take part with them.
    monkeypatch.setattr("judging.engine.foreground.grader_of", lambda run: (Scripted(), 64))
    command(max_pairs=9)
    run.refresh_from_db()
    assert (run.state, run.spending().requests) == ("stopped", 9)


def test_run_that_is_abroad_is_not_waited_for(judge, tmp_path):
    run, _ = exchange.export_run(judge, Dataset.objects.get(), Selection(), tmp_path / "out")
    for arguments in ({}, {"join": run.pk}):
        with pytest.raises(CommandError, match=f"Judge run {run.pk} was exported"):
            command(**arguments)
    run.refresh_from_db()
    assert run.state == "running"


def test_address_stays_with_who_gave_it(judge):
    run = planned(judge, Dataset.objects.get(), endpoint="http://gpu.internal:8000/v1")
    assert run.server == "given by its address"
    run.endpoint = "lab"
    assert run.server == "lab"


def test_budget_of_pairs_is_kept_by_the_same_command(judge):
    run = planned(judge, Dataset.objects.get(), max_pairs=3)
    pump(run, Scripted(), WORKER, batch=1)
    assert (run.state, run.spending().requests) == ("stopped", 3)
