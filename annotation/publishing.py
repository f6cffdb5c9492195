"""What a study's makers paste into a platform's own form: one list, in the order in which it is asked for."""

from dataclasses import dataclass

from annotation.models import Campaign
from annotation.workload import hourly, workload


@dataclass(frozen=True)
class Pasted:
    """A field of the platform's form. An empty value is not stated."""

    name: str
    value: str
    note: str = ""


def pasted(campaign: Campaign, arrival: str) -> list[Pasted]:
    """The title, the address, places, time, pay and codes of a campaign on a platform."""
    pay, rate = campaign.pay_per_part, hourly(campaign)
    return [
        Pasted("Title", campaign.title),
        Pasted("Address of the study", arrival),
        _places(campaign),
        Pasted(
            "Estimated time (minutes)",
            str(campaign.minutes_per_part or ""),
            "of a part, which is one submission there",
        ),
        Pasted(
            f"Pay ({campaign.currency})" if campaign.currency else "Pay",
            "" if pay is None else str(pay),
            f"for a part; {rate} {campaign.currency} an hour" if rate else "for a part",
        ),
        Pasted("Completion code", campaign.code_done, "the part is done: pay it"),
        Pasted("Code after screening", campaign.code_screened_out, "may not take part"),
        Pasted("Code after the check", campaign.code_failed_check, "did not pass it in two tries"),
    ]


def _places(campaign: Campaign) -> Pasted:
    """A place is a part. Where one person may do several, those are studies of their own there."""
    work = workload(campaign)
    if work is None:
        return Pasted("Places", "")
    if work.parts_each == 1:
        return Pasted("Places", str(work.parts), "one for each part")
    return Pasted(
        "Places",
        str(work.parts),
        f"in all, one for each part; one person may do {work.parts_each} of them, each in a study of "
        "its own there, with the same address",
    )
