"""Prices of tokens: from whoever starts a run, else from the site's table."""

import json
from io import StringIO

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from judging.engine import budget, runs
from judging.engine.budget import Prices, prices_of
from judging.engine.selection import Selection
from judging.execution import states
from judging.models import JudgeRun
from tests.toolbox.judging_study import a_judge, make_study

TABLE = {"big": "0.5/2/EUR", "odd": "cheap"}


@pytest.fixture(autouse=True)
def table(settings):
    settings.JUDGE_PRICES = TABLE


@pytest.mark.parametrize(
    ("arguments", "prices"),
    [
        (("big",), Prices(0.5, 2.0, "EUR")),
        (("big", 1, 0, "USD"), Prices(1, 0, "USD")),
        (("small",), Prices(0, 0, "")),
        (("", 0, 3), Prices(0, 3, "")),
    ],
)
def test_given_prices_override_the_table(arguments, prices):
    assert prices_of(*arguments) == prices


def test_entry_that_cannot_be_read_is_named():
    with pytest.raises(ImproperlyConfigured, match="odd=cheap is not like odd="):
        prices_of("odd")


def test_run_keeps_the_prices_of_its_server(db):
    run = runs.start(a_judge(), make_study(), Selection(), endpoint="big", max_money=3)
    run.refresh_from_db()
    assert (run.price_in, run.price_out, run.currency) == (0.5, 2.0, "EUR")


def test_budget_of_money_without_prices_is_refused_and_nothing_is_made(db):
    judge, study = a_judge(), make_study()
    with pytest.raises(states.RunStateError, match="prices of tokens"):
        runs.start(judge, study, Selection(), endpoint="small", max_money=3)
    assert not JudgeRun.objects.exists()
    run = runs.start(judge, study, Selection())
    states.cancel(run)
    with pytest.raises(states.RunStateError, match="prices of tokens"):
        runs.resume(run, max_money=3)
    run.refresh_from_db()
    assert (run.state, run.max_money) == ("cancelled", None)


def test_estimate_is_in_the_currency_of_the_table(db):
    # 24 pairs; the prompt is as long as its two placeholders' words and nothing else.
    judge, study = a_judge(prompt="{question}{text}"), make_study()
    estimate = budget.estimate_of(judge, study, Selection(), prices_of("big"))
    assert estimate.money == pytest.approx((estimate.prompt_tokens * 0.5 + 24 * 2) / 1e6)
    assert estimate.as_json()["currency"] == "EUR"


def test_command_refuses_and_estimates_by_the_table(db):
    a_judge(prompt="{question}{text}")
    make_study()
    with pytest.raises(CommandError, match="prices of tokens"):
        call_command(
            "judge", "study", judge="judge", max_money=3.0, endpoint="http://127.0.0.1:9/v1"
        )
    out = StringIO()
    options = {"judge": "judge", "endpoint": "big", "dry_run": True, "json": True}
    call_command("judge", "study", stdout=out, **options)
    assert json.loads(out.getvalue())["currency"] == "EUR"
