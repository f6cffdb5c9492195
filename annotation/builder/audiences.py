"""Audiences of a campaign: who annotates, and the settings that a new draft gets for them.

Every setting stays changeable in the steps of the builder. What depends on the drawn texts is set by
`fit_to_sample`.
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db import models
from django.utils import timezone
from django.utils.crypto import get_random_string

from annotation.builder.task_minutes import measure_minutes
from annotation.models import Campaign, Item, User


class Audience(models.TextChoices):
    COLLEAGUES = "colleagues", "Colleagues"
    LINK = "link", "Anyone with a link"
    PROLIFIC = "prolific", "Prolific"


DESCRIPTIONS = {
    Audience.COLLEAGUES: "They have an account, or get a personal link. Each of them gets every text.",
    Audience.LINK: "Students or friends, without an account. One link for all of them, and a consent text.",
    Audience.PROLIFIC: "Paid people. Consent, attention checks and the completion code are filled in.",
}

# raters_per_item: people for each text; None: as many as are invited.
# items_per_part: texts in a part where the minutes of a text are unknown; None: one part has all texts.
DEFAULTS: dict[Audience, dict[str, Any]] = {
    Audience.COLLEAGUES: {
        "raters_per_item": None,
        "items_per_part": None,
        "max_parts": None,
        "lease_hours": None,
        "begun_lease_hours": None,
        "attention_per_part": 0,
        "admits_anyone": False,
        "platform": "",
    },
    Audience.LINK: {
        "raters_per_item": 3,
        "items_per_part": 8,
        "max_parts": None,
        "lease_hours": 24,
        "begun_lease_hours": 72,
        "attention_per_part": 1,
        "admits_anyone": True,
        "platform": "",
    },
    Audience.PROLIFIC: {
        "raters_per_item": 3,
        "items_per_part": 8,
        "max_parts": 1,
        "lease_hours": 3,
        "begun_lease_hours": 24,
        "attention_per_part": 2,
        "admits_anyone": False,
        "platform": Campaign.Platform.PROLIFIC,
    },
}
PART_MINUTES = 20  # of a part, where the minutes of a text are known
MOST_ITEMS = 20  # in such a part
CODE_LENGTH, CODE_LETTERS = 8, "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

CONSENT = """\
You read texts and answer questions about them. Your answers are used for research.

- Taking part is voluntary. You can stop at any time, without a reason.
- We store your answers, the words that you mark, and the time that you need.
{identity}
- We may publish your answers, but nothing that says who you are.
- You can ask us to delete what points to you. Your answers stay, without it.
"""
IDENTITY = {
    Audience.LINK: "- We do not ask for your name or your e-mail address.",
    Audience.PROLIFIC: "- We store your Prolific id, to confirm your work on Prolific. Only we see it.",
}


def audience_of(campaign: Campaign) -> Audience | None:
    """Return whom a campaign is for by its settings; None for a platform other than Prolific."""
    if campaign.platform:
        return Audience.PROLIFIC if campaign.platform == Campaign.Platform.PROLIFIC else None
    return Audience.LINK if campaign.admits_anyone else Audience.COLLEAGUES


def standard_consent(audience: Audience) -> str:
    """Return the consent text that a new campaign gets; empty for colleagues."""
    identity = IDENTITY.get(audience)
    return CONSENT.format(identity=identity) if identity else ""


def set_defaults(
    campaign: Campaign, audience: Audience, *, by: User, invited: int, raters: int | None
) -> None:
    """Set an unsaved campaign's settings for an audience.

    `raters` people get each text; None: the default, or for colleagues all who are invited.
    """
    for name, value in DEFAULTS[audience].items():
        setattr(campaign, name, value)
    campaign.raters_per_item = raters or campaign.raters_per_item or max(1, invited)
    campaign.consent = standard_consent(audience)
    if campaign.consent:
        campaign.consent_version = f"{timezone.localdate():%Y-%m}"
        campaign.contact = by.email
    if campaign.platform:
        campaign.code_done = get_random_string(CODE_LENGTH, CODE_LETTERS)


def fit_to_sample(
    campaign: Campaign, minutes_of_text: Decimal | None = None, pay_of_hour: Decimal | None = None
) -> None:
    """Fit a draft's parts to its drawn texts, and set the minutes and the pay of a part.

    The minutes of a text are those that somebody states, else those measured in an earlier campaign.
    Without any, neither minutes nor pay are set.
    """
    items = campaign.items.filter(purpose=Item.Purpose.STUDY).count()
    if minutes_of_text is None and (median := measure_minutes(campaign)):
        minutes_of_text = Decimal(median.minutes)
    if campaign.items_per_part:
        if minutes_of_text:
            fitting = int(PART_MINUTES / minutes_of_text)
            campaign.items_per_part = min(max(fitting, 1), MOST_ITEMS)
        campaign.items_per_part = min(campaign.items_per_part, items)
        campaign.attention_per_part = min(campaign.attention_per_part, campaign.items_per_part)
        if minutes_of_text:
            minutes = int(_round(minutes_of_text * campaign.items_per_part, "1"))
            campaign.minutes_per_part = max(1, minutes)
    if campaign.minutes_per_part and pay_of_hour is not None:
        campaign.pay_per_part = _round(pay_of_hour * campaign.minutes_per_part / 60, "0.01")
    campaign.save(
        update_fields=["items_per_part", "attention_per_part", "minutes_per_part", "pay_per_part"]
    )


def _round(number: Decimal, step: str) -> Decimal:
    return number.quantize(Decimal(step), ROUND_HALF_UP)
