"""Page of invitations: personal links, and the values to paste into a platform's form."""

from dataclasses import dataclass
from datetime import timedelta

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.builder.forms.steps import MAX_LINKS, NamesField
from annotation.http import AuthenticatedRequest, coordinators_only
from annotation.models import Campaign, CheckQuestion, LogEntry, Participant, User
from annotation.participation import entry, withdrawal
from annotation.participation.workload import hourly, workload
from annotation.plurals import n_of


@dataclass(frozen=True)
class Pasted:
    """A field of the platform's form. An empty value is not stated."""

    name: str
    value: str
    note: str = ""


def pasted(campaign: Campaign, arrival: str) -> list[Pasted]:
    """Return the title, URL, places, time, pay and codes of a campaign on a platform."""
    pay, rate = campaign.pay_per_part, hourly(campaign)
    return [
        Pasted("Title", campaign.title),
        Pasted("Address of the study", arrival),
        _places_field(campaign),
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
        Pasted("Completion code", campaign.code_done, "the part is done, pay is due"),
        *_check_codes(campaign),
    ]


def _check_codes(campaign: Campaign) -> list[Pasted]:
    """Return the codes of checks before the work, of those that exist or have a code."""
    purposes = set(campaign.check_questions.values_list("purpose", flat=True))
    codes = {
        CheckQuestion.Purpose.SCREENING: Pasted(
            "Code after screening", campaign.code_screened_out, "may not take part"
        ),
        CheckQuestion.Purpose.COMPREHENSION: Pasted(
            "Code after the check", campaign.code_failed_check, "did not pass it in two tries"
        ),
    }
    return [code for purpose, code in codes.items() if code.value or purpose in purposes]


def _places_field(campaign: Campaign) -> Pasted:
    """Return the number of places on the platform: one for each part.

    Where one person may do several parts, those are studies of their own there.
    """
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


MADE_LINKS = "made links"  # action of the log
LISTED = 10  # as many names as a message names


class LinksForm(forms.Form):
    """Form for new links: names one a line, or a number of links without names."""

    names = NamesField(rows=5, help_text="one per line; people with a link keep it")
    number = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_LINKS,
        help_text="or a number of links without names",
    )
    days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=366,
        help_text="validity of the new links; empty: as long as the study",
    )

    newest = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput
    )

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        names, number = cleaned.get("names", []), cleaned.get("number")
        if not self.errors and bool(names) == bool(number):
            raise ValidationError("Enter either names or a number of links.")
        cleaned["wanted"] = names or [""] * (number or 0)
        return cleaned


LINKS_PER_PAGE = 100


@require_http_methods(["GET", "HEAD", "POST"])
@coordinators_only
@never_cache
def invitations(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """List the invitation links, and create more. A link identifies its person."""
    campaign = get_object_or_404(Campaign, slug=slug)
    is_sent = request.method == "POST"
    form = LinksForm(request.POST if is_sent else None, initial={"newest": _newest(campaign)})
    if form.is_valid() and (created := _create_links(campaign, form, request.user)):
        messages.success(request, created)
        return redirect("campaign_invitations", slug)
    participants = campaign.participants.filter(source=Participant.Source.LINK, erased_at=None)
    listed = participants.select_related("rater").with_status().order_by("-pk")
    page = Paginator(listed, LINKS_PER_PAGE).get_page(request.GET.get("page"))
    arrival = _arrival_url(campaign, request)
    context = {
        "campaign": campaign,
        "form": form,
        "page": page,
        "links": [
            (
                participant,
                Participant.STATUSES[participant.status],
                entry.link_of(participant, request),
            )
            for participant in page
        ],
        "arrival": arrival,
        "open_link": entry.open_link_of(campaign, request) if campaign.admits_anyone else "",
        "accounts": _invited_accounts(campaign),
        "work_link": request.build_absolute_uri(reverse("work_campaign", args=[campaign.slug])),
        "pasted": pasted(campaign, arrival),
        "query": "",
        "room": "campaigns",
    }
    status = 422 if form.is_bound else 200
    return render(request, "annotation/builder/invitations.html", context, status=status)


@transaction.atomic
def _create_links(campaign: Campaign, form: LinksForm, by: User) -> str:
    """Create the links of a valid form; return a message, or "" where the form was sent twice.

    A person who is named twice has one link. Links without names are created once for a page.
    """
    names, days, newest = (form.cleaned_data[name] for name in ("wanted", "days", "newest"))
    until = timezone.now() + timedelta(days=days) if days else None
    withdrawal.lock_campaign(campaign)  # of two who name the same person, one makes the link
    if form.cleaned_data["number"] and newest not in (None, _newest(campaign)):
        form.data = dict(form.data.items()) | {"newest": _newest(campaign)}
        form.add_error(
            "number",
            "Links were created since you opened the page: see the list. To create more, send the form again.",
        )
        return ""
    invited_before = _names_with_links(campaign, names)
    n = len(entry.make_links(campaign, names, until)) - len(invited_before)
    links = n_of(n, "link")
    if n:
        LogEntry.record(campaign, by, MADE_LINKS, links)
    return f"{links} created.{_existing_links_message(invited_before)}"


def _newest(campaign: Campaign) -> int:
    """Return the key of the newest log entry of created links; 0 without any."""
    entries = campaign.log.filter(action=MADE_LINKS).values_list("pk", flat=True)
    return entries.first() or 0


def _invited_accounts(campaign: Campaign) -> list[str]:
    """Return the names of the accounts that are invited."""
    invited = campaign.participants.filter(source=Participant.Source.ACCOUNT)
    return list(invited.order_by("rater__name").values_list("rater__name", flat=True))


def _names_with_links(campaign: Campaign, names: list[str]) -> list[str]:
    """Return the names that have a link already, ended or not."""
    links = campaign.participants.filter(source=Participant.Source.LINK)
    invited = links.filter(external_id__in=[name for name in names if name])
    return sorted(invited.values_list("external_id", flat=True))


def _existing_links_message(names: list[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(names[:LISTED]) + (
        f" and {len(names) - LISTED} more" * (len(names) > LISTED)
    )
    have = (
        "already has a link, which does not change"
        if len(names) == 1
        else "already have links, which do not change"
    )
    return f" {listed} {have}: a new one is made on the participant’s page."


def _arrival_url(campaign: Campaign, request: AuthenticatedRequest) -> str:
    """Return the URL for the platform's own form, with placeholders; empty without a platform."""
    platform = entry.PLATFORMS.get(campaign.platform)
    if platform is None:
        return ""
    start = request.build_absolute_uri(reverse("start", args=[campaign.slug]))
    return f"{start}?{platform.asked}" if platform.asked else start
