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

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.pay + other.pay, self.fee + other.fee)


NOTHING = Amount(Decimal("0.00"), Decimal("0.00"))


def of_part(campaign: Campaign, *, has_fee: bool) -> Amount | None:
    """What a part that is done costs; None where no pay is stated.

    The fee is rounded to the penny for each part, half a penny up, so that sums are those of their
    parts. Without a fee of the campaign, or where no platform asks for one, it is 0.
    """
    if campaign.pay_per_part is None:
        return None
    pay = Decimal(campaign.pay_per_part).quantize(PENNY)
    percent = campaign.platform_fee if has_fee and campaign.platform_fee else Decimal(0)
    return Amount(pay, (pay * Decimal(percent) / 100).quantize(PENNY, ROUND_HALF_UP))


def for_outcome(campaign: Campaign, source: str, outcome: str) -> Amount | None:
    """What is due for a part, or for a participation that ended before one, by how it ended.

    A part that is done is paid, and nothing else is: not who was screened out, failed the check, ran
    out of time or left. None where no pay is stated. `outcome` is one of a part or a participant.
    """
    amount = of_part(campaign, has_fee=source not in OWN_PEOPLE)
    return amount if amount is None or outcome == Part.Outcome.DONE else NOTHING
