"""Forms of the terms of a study, and of the settings editable once it is open."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils import timezone

from annotation.builder.forms.steps import MOMENT, DraftForm, People, accounts
from annotation.models import Campaign, User
from annotation.participation.entry import PLATFORMS

CODES = ("code_done", "code_screened_out", "code_failed_check")
FEE, ADDRESS, OPEN_LINK = "platform_fee", "completion_url", "admits_anyone"
FEEDBACK = "feedback"
OF_PLATFORM = (FEE, *CODES, ADDRESS)
LABELS = {
    FEE: "The platform's fee, in % of the pay",
    "drop_out_percent": "Arrivals that finish no part, in %",
    "workers_a_day": "Workers a day",
    "contact": "Contact for workers",
    FEEDBACK: "Feedback on decisions",
    OPEN_LINK: "Anyone with the link may join",
    "code_done": "Completion code: part done",
    "code_screened_out": "Completion code: screened out",
    "code_failed_check": "Completion code: failed the check",
}
PLANNED = ("drop_out_percent", "workers_a_day")
HELP_TEXTS = {
    FEEDBACK: "people see an expert’s decisions on pairs that they answered, with words and notes, once all "
    "raters of the text have finished. After each part, it costs independence: answers given after the first "
    "feedback follow the expert, and people can no longer change the decided ones",
    OPEN_LINK: "one link for all, on the page Invitations; without the tick it lets nobody in any more",
    FEE: "including VAT if you pay it; empty: none. Fees differ by platform and customer, and "
    "change: see the platform's price list (Prolific: Pricing)",
    "drop_out_percent": "for planning: people who leave, run out of time, fail a check or are screened out",
    "workers_a_day": "for planning: arrivals a day, each for one part",
}


class CompletionAddress(forms.URLField):
    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=200,
            assume_scheme="https",
            label="Completion address",
            help_text="only if the platform has none of its own; {code} and {worker} are filled in",
        )


class PlatformForm(DraftForm):
    """Form with a platform's fee and codes, and a completion URL if the platform has none.

    Those of other platforms are left out, unless they have a value: it would count unseen.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sent_platform = self.data.get("platform") if "platform" in self.fields else None
        platform = PLATFORMS.get(self.instance.platform if sent_platform is None else sent_platform)
        platform_fields = (
            (FEE, *CODES, *([] if platform and platform.back else [ADDRESS])) if platform else ()
        )
        for name in OF_PLATFORM:
            has_value = self.data.get(name) or getattr(self.instance, name)
            if name not in platform_fields and not has_value:
                del self.fields[name]

    def of_platform(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in OF_PLATFORM]

    def at_least_one(self) -> Iterable[str]:
        return ("workers_a_day",)


def moment() -> forms.DateTimeInput:
    return forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT)


class TermsForm(PlatformForm):
    """Form of pay, time, opening and closing, platform, and invited accounts."""

    completion_url = CompletionAddress()
    people = People(
        label="Invited accounts", help_text="they see the study under My work when it is open"
    )

    class Meta:
        model = Campaign
        fields = (
            *("pay_per_part", "currency", "minutes_per_part", *PLANNED, "contact"),
            *("opens_at", "closes_at", FEEDBACK, "platform", *OF_PLATFORM, OPEN_LINK, "is_pilot"),
        )
        labels = LABELS | {
            "pay_per_part": "Pay for a part",
            "minutes_per_part": "Minutes for a part",
            "opens_at": "Opens",
            "closes_at": "Closes",
            "platform": "Source of participants",
            "is_pilot": "Pilot",
        }
        help_texts = HELP_TEXTS | {
            "pay_per_part": "empty: unpaid",
            "currency": "three letters",
            "is_pilot": "its answers never become ratings",
        }
        widgets = {"opens_at": moment(), "closes_at": moment()}

    def __init__(self, *args: Any, instance: Campaign, **kwargs: Any) -> None:
        invited = User.objects.filter(rater__participations__campaign=instance, is_guest=False)
        super().__init__(*args, instance=instance, initial={"people": invited}, **kwargs)
        may_come = accounts(instance).values("pk")
        self.fields["people"].queryset = User.objects.filter(  # type: ignore[attr-defined]
            Q(pk__in=may_come) | Q(pk__in=invited.values("pk"))
        ).order_by("username")
        zone = timezone.get_current_timezone_name()
        self.fields["opens_at"].help_text = f"{zone}; empty: as soon as it is open"
        self.fields["closes_at"].help_text = f"{zone}; empty: until somebody closes it"

    def stored_values(self) -> dict[str, Any]:
        return super().stored_values() | {"people": self.initial["people"]}

    def before(self) -> list[forms.BoundField]:
        return self._split()[0]

    def after(self) -> list[forms.BoundField]:
        return self._split()[1]

    def _split(self) -> tuple[list[forms.BoundField], list[forms.BoundField]]:
        """Split the fields common to all platforms: up to the platform field, and after it."""
        common = [field for field in self if field.name not in OF_PLATFORM]
        cut = [field.name for field in common].index("platform") + 1
        return common[:cut], common[cut:]

    def clean_currency(self) -> str:
        currency: str = self.cleaned_data["currency"].upper()
        if currency and not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
            raise ValidationError("A currency has three letters, such as GBP.")
        return currency

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        pay = cleaned.get("pay_per_part")
        if pay is not None and pay < 0:
            self.add_error("pay_per_part", "Pay cannot be negative.")
        if pay is not None and not cleaned.get("currency") and "currency" not in self.errors:
            self.add_error("currency", "Enter the currency.")
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and closes <= opens:
            self.add_error("closes_at", "The closing time is before the opening time.")
        return cleaned


class OpenCampaignForm(PlatformForm):
    """Form of the settings that may change in an open study: none that raters saw before work."""

    completion_url = CompletionAddress()
    people = People(label="Invite more accounts")

    field_order = ("closes_at", FEEDBACK, "contact", *PLANNED, *OF_PLATFORM, OPEN_LINK, "people")

    class Meta:
        model = Campaign
        fields = ("closes_at", FEEDBACK, "contact", *PLANNED, *OF_PLATFORM, OPEN_LINK)
        labels = LABELS | {"closes_at": "Closes"}
        help_texts = HELP_TEXTS
        widgets = {"closes_at": moment()}

    def __init__(self, *args: Any, instance: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, instance=instance, **kwargs)
        in_already = User.objects.filter(rater__participations__campaign=instance)
        self.fields["people"].queryset = accounts(instance).exclude(  # type: ignore[attr-defined]
            pk__in=in_already
        )
        zone = timezone.get_current_timezone_name()
        self.fields["closes_at"].help_text = f"{zone}; empty: until somebody closes it"

    def clean_closes_at(self) -> Any:
        closes, opens = self.cleaned_data["closes_at"], self.instance.opens_at
        if closes and opens and closes <= opens:
            raise ValidationError("The closing time is before the opening time.")
        return closes
