"""What a study comes to before it opens, worked out by hand."""

from dataclasses import replace
from decimal import Decimal

import pytest

from annotation.models import Campaign
from annotation.participation.planning import arrivals_for, plan
from annotation.participation.workload import workload
from tests.crowd import make_study

# 10 texts for 3 raters are 30 slots; in parts of 4 they are 8 parts (7.5). Two parts a person, that is 8
# texts: 30 slots need 4 people (3.75).
STATED = {
    "raters_per_item": 3,
    "items_per_part": 4,
    "pay_per_part": Decimal("4.50"),
    "minutes_per_part": 25,
    "platform_fee": Decimal("33.33"),
    "drop_out_percent": 20,
    "workers_a_day": 3,
}


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=10, **STATED)


def planned(study, **settings):
    for name, value in settings.items():
        setattr(study, name, value)
    return plan(study, workload(study))


def test_all_numbers_of_a_plan(study):
    made = planned(study)
    assert {
        name: (figure.text, figure.how) for name, figure in vars(made).items() if name != "currency"
    } == {
        "slots": ("30", "10 texts × 3 raters"),
        "parts": ("8", "30 slots ÷ 4 texts of a part, rounded up"),
        # 8 ÷ 0.8
        "arrivals": ("10", "8 parts ÷ 80% that finish one, rounded up"),
        # 200, and 4 × 25 ÷ 4
        "minutes": (
            "225",
            "8 parts × 25 minutes; and 4 people × 1 practice text × 6.2 minutes, rounded up",
        ),
        "pay": ("36.00", "8 parts × 4.50"),
        "fee": ("12.00", "8 parts × 1.50: 33.33% of the pay of a part"),
        "total": ("48.00", "36.00 + 12.00"),
        # 10 ÷ 3
        "days": ("4", "10 arrivals ÷ 3 workers a day, rounded up"),
    }
    assert (made.hours, made.currency) == (3.75, "GBP")


@pytest.mark.parametrize(("percent", "arrivals"), [(0, 8), (1, 9), (25, 11), (50, 16), (99, 800)])
def test_who_leaves_is_made_up_for(study, percent, arrivals):
    assert planned(study, drop_out_percent=percent).arrivals.value == arrivals


def test_practice_takes_time_of_everybody_once(study):
    study.items.filter(purpose="training").update(purpose="gold")
    assert planned(study).minutes.value == 200


@pytest.mark.parametrize(
    ("without", "undefined"),
    [
        (
            {"pay_per_part": None},
            dict.fromkeys(("pay", "fee", "total"), "no pay is stated"),
        ),
        ({"minutes_per_part": None}, {"minutes": "the minutes of a part are not stated"}),
        ({"workers_a_day": None}, {"days": "no workers a day are stated"}),
        (
            {"drop_out_percent": None},
            {
                "arrivals": "no share of arrivals that finish no part is stated",
                "days": "how many have to come is undefined",
            },
        ),
    ],
)
def test_what_is_not_stated_is_undefined_and_says_why(study, without, undefined):
    made = planned(study, **without)
    assert {
        name: figure.how
        for name, figure in vars(made).items()
        if name != "currency" and figure.value is None
    } == undefined
    assert (made.hours is None) == ("minutes" in undefined)


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ({"platform": ""}, "people come from no platform"),
        ({"platform_fee": None}, "none is stated"),
    ],
)
def test_without_a_fee_the_pay_is_all(study, setting, why):
    made = planned(study, **setting)
    assert (made.fee.text, made.fee.how, made.total.text) == ("0.00", why, "36.00")


def test_arrivals_at_a_rate_that_was_seen():
    assert arrivals_for(9, 3, 8) == 24
    assert arrivals_for(10, 7, 10) == 15  # 14.3
    assert arrivals_for(0, 7, 10) == 0
    with pytest.raises(ZeroDivisionError):
        arrivals_for(9, 0, 8)


def test_one_of_each_is_said_in_the_singular(study):
    work = replace(
        workload(study), items=1, raters=1, gradings=1, parts=1, items_in_part=1, people=1
    )
    made = plan(study, work)
    assert made.slots.how == "1 text × 1 rater"
    assert made.parts.how == "1 slot ÷ 1 text of a part, rounded up"
    assert made.minutes.how.startswith("1 part × 25 minutes; and 1 person × 1 practice text")
