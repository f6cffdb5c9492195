"""Views of a running campaign's quality: all raters, one rater, one item."""

from django.core.paginator import Paginator
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Campaign, Item
from evaluation.data.contradictions import count_by_rubric
from evaluation.page_tables import order_rows, page_query
from evaluation.quality.item import item_report
from evaluation.quality.page import fleiss_without, quality_report
from evaluation.quality.rater import (
    assigned_to,
    assignment_values,
    confusion,
    days,
    items_done,
    partners,
)
from evaluation.quality.table import csv_lines

ITEMS_PER_PAGE = 100
PARTNERS = 50


@require_safe
@researchers_only
def quality(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Render the table of all raters, with flags for review."""
    report = quality_report(_campaign(slug))
    context = {
        "room": "campaigns",
        "campaign": report.campaign,
        "report": report,
        "contradictions": count_by_rubric(report.campaign),
        "of_campaign": f"&campaign={report.campaign.slug}",
        "n_set_aside": int(report.answers.is_set_aside.sum()),
        "profiles": sorted(
            (profile for profile in report.profiles if profile.has_begun),
            key=lambda profile: profile.name,
        ),
        "waiting": [profile.name for profile in report.profiles if not profile.has_begun],
        "first_item": next(iter(report.answers.items), None),
    }
    return render(request, "evaluation/quality/quality.html", context)


@require_safe
@researchers_only
def quality_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Return the table as a file, with the reason beside each undefined value."""
    lines = csv_lines(quality_report(_campaign(slug)))
    response = HttpResponse("".join(lines), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-quality.csv"'
    return response


@require_safe
@researchers_only
def quality_rater(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponse:
    """Render one rater: all numbers, agreement with each other rater, labels over time, items."""
    campaign = _campaign(slug)
    participant = campaign.participants.select_related("rater").filter(rater__name=name).first()
    if participant is None:
        raise Http404("Nobody of that name takes part in this campaign.")
    report = quality_report(campaign)
    index = list(report.answers.names).index(participant.rater_id)
    positions = assigned_to(report, participant.rater_id)
    assigned, order = order_rows(request.GET, "items", positions, assignment_values(report))
    page = Paginator(assigned, ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    rater_partners = partners(report, index)
    context = {
        "room": "campaigns",
        "campaign": campaign,
        "report": report,
        "participant": participant,
        "profile": report.profiles[index],
        "n_left": int((report.rater != index).sum()),
        "without": fleiss_without(report, index),
        "partners": rater_partners[:PARTNERS],
        "n_partners": len(rater_partners),
        "confusion": confusion(report, index) if rater_partners else [],
        "levels": report.answers.levels.tolist(),
        "days": days(report, participant.rater_id),
        "items": items_done(report, list(page)),
        "page": page,
        "items_order": order,
        "query": page_query("", request.GET),
    }
    return render(request, "evaluation/quality/rater.html", context)


@require_safe
@researchers_only
def quality_item(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """Render one item: the text with all highlights, grades, times and notes."""
    item = get_object_or_404(
        Item.objects.select_related(
            "campaign__dataset", "campaign__rubric", "text__topic", "text__dataset"
        ),
        campaign__slug=slug,
        pk=pk,
    )
    _with_names(item.campaign)
    report = item_report(item)
    row = report.row(request.GET.get("question", ""))
    if row is None and request.GET.get("question"):
        raise Http404("This item does not ask that question.")
    voices = row.voices if row else ()
    item_ids = item.campaign.items.values_list("pk", flat=True)
    context = {
        "room": "campaigns",
        "campaign": item.campaign,
        "item": item,
        "text": item.as_shown(),
        "text_label": f"Text of the {item.text.get_kind_display()}",
        "report": report,
        "shown": row,
        "other_words": row.asked.other_words_url() if row else "",
        "marking": [voice for voice in voices if voice.spans],
        "spans": [span for voice in voices for span in voice.drawn()],
        "previous": item_ids.filter(position__lt=item.position).order_by("-position").first(),
        "next": item_ids.filter(position__gt=item.position).order_by("position").first(),
    }
    return render(request, "evaluation/quality/item.html", context)


def _campaign(slug: str) -> Campaign:
    campaigns = Campaign.objects.select_related("dataset", "rubric")
    campaign = get_object_or_404(campaigns, slug=slug)
    _with_names(campaign)
    return campaign


def _with_names(campaign: Campaign) -> None:
    """Prefetch the names of grades once, for nominal scales."""
    if not campaign.rubric.has_order:
        prefetch_related_objects([campaign.rubric], "levels")
