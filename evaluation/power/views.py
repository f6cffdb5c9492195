"""Power of a planned study: how many topics and raters it takes to see a difference."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Campaign
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import json_file, refusal
from evaluation.power.export import HEADER, as_json, power_rows
from evaluation.power.page import power_report
from evaluation.power.params import power_choice
from evaluation.stats.mixed_model import TEXT


@require_safe
@researchers_only
def power(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The page. It belongs to a draft, and stays for what was opened."""
    campaign = _campaign(slug)
    try:
        choice = power_choice(campaign, request.GET.dict())
    except SelectionError as error:
        return refusal(request, campaign.dataset, str(error))
    report = power_report(choice)
    context = {
        "room": "campaigns",
        "campaign": campaign,
        "choice": choice,
        "report": report,
        "has_no_text": report.model.components.get(TEXT) == 0,
    }
    return render(request, "evaluation/power/power.html", context)


@require_safe
@researchers_only
def power_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    campaign = _campaign(slug)
    try:
        report = power_report(power_choice(campaign, request.GET.dict()))
    except SelectionError as error:
        return refusal(request, campaign.dataset, str(error))
    return csv_response(f"{slug}-power", HEADER, power_rows(report))


@require_safe
@researchers_only
def power_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    campaign = _campaign(slug)
    try:
        choice = power_choice(campaign, request.GET.dict())
    except SelectionError as error:
        return refusal(request, campaign.dataset, str(error))
    content = as_json(choice, power_report(choice))
    return json_file(f"{slug}-power", content)


def _campaign(slug: str) -> Campaign:
    return get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
