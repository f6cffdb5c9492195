"""Payout of parts: pay and fee to the penny, computed by hand."""

from decimal import Decimal

import pytest

from annotation.models import Campaign
from annotation.participation.payout import ZERO, Amount, outcome_payout, part_payout


@pytest.mark.parametrize(
    ("pay", "percent", "fee"),
    [
        ("4.50", "33.33", "1.50"),  # 1.49985
        ("0.15", "30", "0.05"),  # 0.045: half a penny goes up
        ("0.25", "30", "0.08"),  # 0.075
        ("1.00", "33.3", "0.33"),
        ("1.01", "42.8", "0.43"),  # 0.43228
        ("2", "100", "2.00"),
        ("99999.99", "0.01", "10.00"),  # 9.999999
        ("4.50", "0", "0.00"),
        ("4.50", None, "0.00"),
        ("0.00", "33.33", "0.00"),
    ],
)
def test_fee_of_a_part_is_rounded_to_the_penny(pay, percent, fee):
    campaign = Campaign(
        pay_per_part=Decimal(pay), platform_fee=None if percent is None else Decimal(percent)
    )
    amount = part_payout(campaign, has_fee=True)
    assert (amount.pay, amount.fee) == (Decimal(pay), Decimal(fee))
    assert amount.total == Decimal(pay) + Decimal(fee)
    assert amount.fee.as_tuple().exponent == amount.pay.as_tuple().exponent == -2


def test_sums_are_those_of_their_parts():
    amount = part_payout(
        Campaign(pay_per_part=Decimal("0.15"), platform_fee=Decimal(30)), has_fee=True
    )
    # Three parts of 0.15 and 0.05; 30% of 0.45 would be 0.14.
    assert amount.times(3) == amount + amount + amount == Amount(Decimal("0.45"), Decimal("0.15"))
    assert amount.times(3).total == Decimal("0.60")
    assert amount + ZERO == amount


@pytest.mark.parametrize(
    ("source", "outcome", "pay", "fee"),
    [
        ("prolific", "done", "4.50", "1.50"),
        ("mturk", "done", "4.50", "1.50"),
        ("account", "done", "4.50", "0.00"),  # no platform stands between
        ("link", "done", "4.50", "0.00"),
        *(
            ("prolific", outcome, "0.00", "0.00")
            for outcome in ("", "expired", "returned", "screened_out", "failed_check")
        ),
    ],
)
def test_only_a_part_that_is_done_is_due_and_platforms_alone_ask_a_fee(source, outcome, pay, fee):
    campaign = Campaign(pay_per_part=Decimal("4.50"), platform_fee=Decimal("33.33"))
    assert outcome_payout(campaign, source, outcome) == Amount(Decimal(pay), Decimal(fee))


def test_without_a_stated_pay_nothing_is_known():
    campaign = Campaign(platform_fee=Decimal(30))
    assert part_payout(campaign, has_fee=True) is None
    assert outcome_payout(campaign, "prolific", "done") is None
    assert outcome_payout(campaign, "prolific", "returned") is None
