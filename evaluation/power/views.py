"""Views of the power page: topics and raters needed to detect a difference."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Campaign
from evaluation.data.selection import SelectionError
from evaluation.http import json_file, selection_error_page
from evaluation.power.export import as_json, power_table
from evaluation.power.page import power_report
from evaluation.power.query import PowerQuery
from evaluation.result_tables import table_file
from evaluation.stats.mixed_model import TEXT


@require_safe
@researchers_only
def power(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Render the page. It belongs to a draft, and stays for opened campaigns."""
    campaign = _campaign(slug)
    try:
        choice = PowerQuery(campaign, request.GET).parse()
    except SelectionError as error:
        return selection_error_page(request, campaign.dataset, str(error))
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
def power_table_file(request: AuthenticatedRequest, slug: str, file_format: str) -> HttpResponse:
    campaign = _campaign(slug)
    try:
        report = power_report(PowerQuery(campaign, request.GET).parse())
    except SelectionError as error:
        return selection_error_page(request, campaign.dataset, str(error))
    return table_file(
        request,
        file_format,
        power_table(report),
        name=f"{slug}-power",
        caption=f"Power of designs after the campaign {campaign.title}",
    )


@require_safe
@researchers_only
def power_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    campaign = _campaign(slug)
    try:
        choice = PowerQuery(campaign, request.GET).parse()
    except SelectionError as error:
        return selection_error_page(request, campaign.dataset, str(error))
    content = as_json(choice, power_report(choice))
    return json_file(f"{slug}-power", content)


def _campaign(slug: str) -> Campaign:
    return get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
