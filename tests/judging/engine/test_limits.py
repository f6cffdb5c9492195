"""The form, the API and what the command calls take the same numbers, and refuse the same."""

import pytest

from annotation.models import User
from judging.api.bodies import StartBody
from judging.engine import budget, runs, states
from judging.engine.judges import baseline_of
from judging.engine.selection import Selection
from judging.runs.forms import RunForm


def by_form(dataset, values):
    typed = {"judge": "baseline", "concurrency": 1, "workers": 1, **values}
    form = RunForm(typed, dataset=dataset, user=User(role="admin"))
    return not set(form.errors) & set(values)


def by_api(dataset, values):
    return StartBody(data={"judge": "lexical", "dataset": dataset.slug, **values}).is_valid()


def by_command(dataset, values):
    try:
        run = runs.start(baseline_of(dataset)[0], dataset, Selection(), **values)
    except states.RunRefused:
        return False
    run.delete()
    return True


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("concurrency", budget.CONCURRENCY),
        ("workers", budget.WORKERS),
        ("max_pairs", budget.PAIRS),
        ("max_tokens", budget.TOKENS),
        ("price_in", budget.PRICE),
        ("price_out", budget.PRICE),
    ],
)
@pytest.mark.parametrize("takes", [by_form, by_api, by_command])
def test_one_limit_for_all(dataset, takes, name, most):
    assert takes(dataset, {name: most})
    assert takes(dataset, {name: 1})
    assert not takes(dataset, {name: most * 2})


@pytest.mark.parametrize("takes", [by_form, by_api, by_command])
def test_the_same_of_money(dataset, takes):
    prices = {"price_in": 1}
    assert takes(dataset, {"max_money": budget.MONEY, **prices})
    assert not takes(dataset, {"max_money": budget.MONEY * 2, **prices})
