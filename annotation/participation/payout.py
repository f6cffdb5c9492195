"""Amounts due: the pay of parts that are done and the platform's fee on it, to the penny."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from annotation.models import Campaign, Part, Participant

PENNY = Decimal("0.01")
OWN_PEOPLE = (Participant.Source.ACCOUNT, Participant.Source.LINK)  # no platform stands between


@dataclass(frozen=True)
class Amount:
    """Pay, and the platform's fee on it, in the campaign's currency."""

    pay: Decimal
    fee: Decimal

    @property
    def total(self) -> Decimal:
        return self.pay + self.fee

    def times(self, n: int) -> "Amount":
        return Amount(self.pay * n, self.fee * n)

    def __add__(self, addend: "Amount") -> "Amount":
        return Amount(self.pay + addend.pay, self.fee + addend.fee)


ZERO = Amount(Decimal("0.00"), Decimal("0.00"))


def part_payout(campaign: Campaign, *, has_fee: bool) -> Amount | None:
    """Return the pay and fee of a part that is done; None where no pay is stated.

    The fee is rounded to the penny for each part, half a penny up, so that sums are those of their
    parts. Without a fee of the campaign, or where no platform asks for one, it is 0.
    """
    if campaign.pay_per_part is None:
        return None
    pay = Decimal(campaign.pay_per_part).quantize(PENNY)
    percent = campaign.platform_fee if has_fee and campaign.platform_fee else Decimal(0)
    return Amount(pay, (pay * Decimal(percent) / 100).quantize(PENNY, ROUND_HALF_UP))


def outcome_payout(campaign: Campaign, source: str, outcome: str) -> Amount | None:
    """Return the amount due for a part, or a participation that ended before one, by outcome.

    A part that is done is paid, and nothing else is: not who was screened out, failed the check, ran
    out of time or left. None where no pay is stated. `outcome` is one of a part or a participant.
    """
    amount = part_payout(campaign, has_fee=source not in OWN_PEOPLE)
    return amount if amount is None or outcome == Part.Outcome.DONE else ZERO
