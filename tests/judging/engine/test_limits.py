"""The form, the API and what the command calls take the same numbers, and refuse the same."""

import pytest

from annotation.models import User
from judging.api.bodies import StartBody
from judging.engine import runs
from judging.engine.judges import baseline_of
from judging.engine.selection import Selection
from judging.execution import limits, states
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
    except states.RunStateError:
        return False
    run.delete()
    return True


@pytest.mark.parametrize(
    ("name", "maximum"),
    [
        ("concurrency", limits.MAX_CONCURRENCY),
        ("workers", limits.MAX_WORKERS),
        ("max_pairs", limits.MAX_PAIRS),
        ("max_tokens", limits.MAX_TOKENS),
        ("price_in", limits.MAX_PRICE),
        ("price_out", limits.MAX_PRICE),
    ],
)
@pytest.mark.parametrize("takes", [by_form, by_api, by_command])
def test_limit_is_the_same_for_all_entrances(dataset, takes, name, maximum):
    assert takes(dataset, {name: maximum})
    assert takes(dataset, {name: 1})
    assert not takes(dataset, {name: maximum * 2})


@pytest.mark.parametrize("takes", [by_form, by_api, by_command])
def test_same_of_money(dataset, takes):
    prices = {"price_in": 1}
    assert takes(dataset, {"max_money": limits.MAX_MONEY, **prices})
    assert not takes(dataset, {"max_money": limits.MAX_MONEY * 2, **prices})
