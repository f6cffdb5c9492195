"""Plan of a study before it opens, computed by hand."""

from dataclasses import replace
from decimal import Decimal

import pytest

from annotation.models import Campaign
from annotation.participation.planning import arrivals_for, plan
from annotation.participation.workload import workload
from tests.toolbox.prolific_study import make_study

# 10 texts for 3 raters are 30 slots; in parts of 4 they are 8 parts (7.5). Two parts a person, that is 8
# texts: 30 slots need 4 people (3.75).
SETTINGS = {
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
    return make_study(texts=10, **SETTINGS)


def planned(study, **settings):
    for name, value in settings.items():
        setattr(study, name, value)
    return plan(study, workload(study))


def test_all_numbers_of_a_plan(study):
    figures = planned(study)
    assert {
        name: (figure.text, figure.how)
        for name, figure in vars(figures).items()
        if name != "currency"
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
    assert (figures.hours, figures.currency) == (3.75, "GBP")


@pytest.mark.parametrize(("percent", "arrivals"), [(0, 8), (1, 9), (25, 11), (50, 16), (99, 800)])
def test_arrivals_make_up_for_drop_outs(study, percent, arrivals):
    assert planned(study, drop_out_percent=percent).arrivals.value == arrivals


def test_practice_takes_time_of_everybody_once(study):
    study.items.filter(purpose="training").update(purpose="gold")
    assert planned(study).minutes.value == 200


@pytest.mark.parametrize(
    ("setting", "undefined"),
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
def test_figure_without_a_setting_is_undefined_with_a_reason(study, setting, undefined):
    figures = planned(study, **setting)
    assert {
        name: figure.how
        for name, figure in vars(figures).items()
        if name != "currency" and figure.value is None
    } == undefined
    assert (figures.hours is None) == ("minutes" in undefined)


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"platform": ""}, "people come from no platform"),
        ({"platform_fee": None}, "none is stated"),
    ],
)
def test_without_a_fee_the_pay_is_all(study, setting, reason):
    figures = planned(study, **setting)
    assert (figures.fee.text, figures.fee.how, figures.total.text) == ("0.00", reason, "36.00")


def test_arrivals_at_a_rate_that_was_seen():
    assert arrivals_for(9, 3, 8) == 24
    assert arrivals_for(10, 7, 10) == 15  # 14.3
    assert arrivals_for(0, 7, 10) == 0
    with pytest.raises(ZeroDivisionError):
        arrivals_for(9, 0, 8)


def test_figures_of_one_are_in_the_singular(study):
    work = replace(
        workload(study), items=1, raters=1, gradings=1, parts=1, items_in_part=1, people=1
    )
    figures = plan(study, work)
    assert figures.slots.how == "1 text × 1 rater"
    assert figures.parts.how == "1 slot ÷ 1 text of a part, rounded up"
    assert figures.minutes.how.startswith("1 part × 25 minutes; and 1 person × 1 practice text")
