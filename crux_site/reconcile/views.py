"""Comparison of a campaign with Prolific's list of submissions, and its review rules."""

import base64
from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.form_versions import locked_post
from annotation.http import AuthenticatedRequest, coordinators_only
from annotation.models import Campaign, LogEntry
from annotation.monitoring import part_records, reconciliation
from annotation.monitoring.submission_states import store_submission_states
from crux_site.reconcile.forms import ReconcileForm, ReviewRulesForm
from crux_site.reconcile.quality_reasons import quality_reasons


@require_http_methods(["GET", "HEAD", "POST"])
@coordinators_only
@never_cache
def reconcile(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Compare Prolific's list of submissions with the parts here.

    Of the list, each part stores the state of its submission, which its person reads.
    """
    campaign = get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
    form = (
        ReconcileForm(request.POST, request.FILES) if request.method == "POST" else ReconcileForm()
    )
    context: dict[str, Any] = {"form": form, "rules_form": ReviewRulesForm(instance=campaign)}
    if form.is_valid():
        compared = reconciliation.reconcile(campaign, form.submissions, quality_reasons(campaign))
        # In the page itself: what is kept nowhere else need not be uploaded again to be taken away.
        lines = "".join(reconciliation.csv_lines(compared)).encode()
        context |= {
            "compared": compared,
            "n_stored": store_submission_states(campaign, compared, request.user),
            "amounts": compared.payouts(),
            "csv": f"data:text/csv;charset=utf-8;base64,{base64.b64encode(lines).decode()}",
        }
    return _reconcile_page(request, campaign, refused=bool(form.errors), **context)


@require_POST
@coordinators_only
@locked_post
def review_rules(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Save the thresholds of the review rules. They change suggestions, and no pay."""
    campaign = get_object_or_404(Campaign.objects.select_for_update(), slug=slug)
    rules_form = ReviewRulesForm(request.POST, instance=campaign)
    if not rules_form.is_valid():
        stored = Campaign.objects.get(slug=slug)  # a refused form leaves its values in the other
        return _reconcile_page(
            request, stored, refused=True, form=ReconcileForm(), rules_form=rules_form
        )
    if rules_form.changed_data:
        campaign.save(update_fields=rules_form.changed_data)
        LogEntry.record(campaign, request.user, "changed review rules", rules_form.changes())
    messages.success(request, "The rules are saved. They apply to later comparisons.")
    return redirect("campaign_reconcile", slug)


def _reconcile_page(
    request: AuthenticatedRequest, campaign: Campaign, *, refused: bool, **context: Any
) -> HttpResponseBase:
    context |= {
        "campaign": campaign,
        "rules": part_records.review_rules(campaign),
        "room": "campaigns",
    }
    rules_form: ReviewRulesForm = context["rules_form"]
    status = (409 if rules_form.conflicts else 422) if refused else 200
    return render(request, "crux_site/reconcile/reconcile.html", context, status=status)
