"""A study under way, for those who run it: its numbers, its people, its log."""

from django.core.paginator import Paginator
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotation import fieldwork
from annotation.forms.fieldwork import ExtendForm
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Assignment, Campaign, Item, Participant
from annotation.participants import STATUSES, rows, statuses, with_status
from annotation.skips import by_part

PER_PAGE = 50


@require_safe
@researchers_only
@vary_on_headers("HX-Request")
def campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """One study: its terms, and how far it is. Asked by its own script, the live numbers alone."""
    found = get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
    total, *systems = fieldwork.items(found)
    context = {
        "campaign": found,
        "statuses": statuses(found),
        "lent": fieldwork.handed_out(found),
        "total": total,
        "systems": systems,
        "hands_out": found.hands_out(),
        "room": "campaigns",
    }
    if request.htmx:
        return render(request, "annotation/_campaign_numbers.html", context)
    extra = found.items.exclude(purpose=Item.Purpose.STUDY).values_list("purpose", flat=True)
    notes = Assignment.objects.filter(participant__campaign=found).exclude(note="")
    context |= {
        "extra": [extra.filter(purpose=p).count() for p in ("training", "gold")],
        "days": fieldwork.by_day(found),
        "late": fieldwork.late(found),
        "due": fieldwork.pay_due(found),
        "time": fieldwork.time_of_parts(found),
        "n_notes": notes.count(),
        "notes": notes.select_related("participant__rater", "item__text").defer("item__text__body")[
            :PER_PAGE
        ],
    }
    return render(request, "annotation/campaign.html", context)


@require_safe
@researchers_only
def participants(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The participants of a study, those of one status if that is asked for, page by page."""
    found = get_object_or_404(Campaign, slug=slug)
    status = request.GET.get("status", "")
    stays = with_status(found.participants.select_related("rater"))
    if status in STATUSES:
        stays = stays.filter(status=status)
    else:
        status = ""
    page = Paginator(stays.order_by("pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": found,
        "statuses": statuses(found),
        "status": status,
        "page": page,
        "rows": rows(page),
        "query": f"status={status}&" if status else "",
        "room": "campaigns",
    }
    return render(request, "annotation/campaign_participants.html", context)


@require_safe
@researchers_only
def participant(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """One participant of a study: parts, items, what staff did about them, and what staff can do."""
    stays = with_status(Participant.objects.select_related("campaign__rubric", "rater__user"))
    stay = get_object_or_404(stays, campaign__slug=slug, pk=pk)
    lent = stay.assignments.select_related("item__text", "sitting", "check_asked")
    [row] = rows([stay])
    skips = by_part(stay.campaign, stay.assignments.all())
    context = {
        "campaign": stay.campaign,
        "stay": stay,
        "row": row,
        "parts": [(part, skips.get(part.pk)) for part in stay.sittings.all()],
        "items": lent.defer("item__text__body"),
        "log": stay.log.select_related("by"),
        "extend": ExtendForm(),
        "is_guest": bool(stay.rater.user and stay.rater.user.is_guest),
        "has_ended": stay.outcome not in ("", Participant.Outcome.DONE),
        "now_working": row.status in ("working", "overdue"),
        "room": "campaigns",
    }
    return render(request, "annotation/campaign_participant.html", context)


@require_safe
@researchers_only
def log(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Who did what to a study and to whom, newest first."""
    found = get_object_or_404(Campaign, slug=slug)
    entries = found.log.select_related("by", "participant__rater")
    page = Paginator(entries, PER_PAGE).get_page(request.GET.get("page"))
    context = {"campaign": found, "page": page, "query": "", "room": "campaigns"}
    return render(request, "annotation/campaign_log.html", context)
