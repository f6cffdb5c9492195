"""Views that filter sub-questions that no passage answers, or whose grades fail."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from annotation.errors import UserError
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from annotation.row_versions import VERSION
from building.engine.critiques import (
    EXAMPLE,
    MISSING,
    PairFilter,
    filter_out,
    graders_of,
    pair_filter,
)
from building.engine.filtering import Filter, FilterError, apply, filter_of, judges_of
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.scoring.options import DEFAULT_ETA

MAX_PAIRS = 200  # pairs that a page lists
PER_PAGE = 20  # topics


def _refuse_if_changed(request: AuthenticatedRequest, proposal: Filter | PairFilter) -> None:
    """Raise FilterError if the proposal changed since the page was opened."""
    if request.POST.get(VERSION, proposal.version) != proposal.version:
        raise FilterError(
            "No questions were filtered: grades or questions have changed since you opened the "
            "page. The page has the new proposal."
        )


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def filter_questions(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show a judge's filter proposal; an owner applies it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    is_act = request.method == "POST"
    if is_act and not request.user.owns:
        raise PermissionDenied("Only admins and owners of the project change a collection.")
    judges = judges_of(dataset)
    params = request.POST if is_act else request.GET
    judge, eta = params.get("judge", next(iter(judges), "")), params.get("eta", str(DEFAULT_ETA))
    proposal, problem = None, ""
    try:
        if is_act:
            proposal = filter_of(dataset, judge, eta)
        elif judge:
            key = (CacheKey.FILTERED_QUESTIONS, judge, eta)
            proposal = cached(dataset, key, lambda: filter_of(dataset, judge, eta))
        if is_act and proposal:
            _refuse_if_changed(request, proposal)
            n = apply(dataset, proposal)
            messages.success(request, f"Questions filtered: {n:,}.")
            return redirect("building", slug)
    except UserError as error:
        problem = str(error)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "judges": judges,
        "judge": judge,
        "eta": eta,
        "found": proposal,
        "page": Paginator(proposal.topics_to_review if proposal else (), PER_PAGE).get_page(
            params.get("page")
        ),
        "query": f"{urlencode({'judge': judge, 'eta': eta})}&",
        "problem": problem,
    }
    status = 422 if problem else 200
    return render(request, "building/filtering/filter.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def filter_pairs(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the questions that fail conditions on grades; an owner filters them."""
    dataset = get_object_or_404(Dataset, slug=slug)
    is_act = request.method == "POST"
    if is_act and not request.user.owns:
        raise PermissionDenied("Only admins and owners of the project change a collection.")
    params = request.POST if is_act else request.GET
    keep, missing = params.get("keep", "").strip(), params.get("missing", MISSING[0])
    proposal, problem = None, ""
    try:
        if keep or is_act:
            proposal = pair_filter(dataset, keep, missing)
        if is_act and proposal:
            _refuse_if_changed(request, proposal)
            n = filter_out(dataset, proposal)
            messages.success(request, f"Questions filtered: {n:,}.")
            return redirect("building", slug)
    except UserError as error:
        problem = str(error)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "named": [
            f"{name}:{rater}" for name, raters in graders_of(dataset).items() for rater in raters
        ],
        "keep": keep,
        "missing": missing,
        "example": EXAMPLE,
        "found": proposal,
        "shown": proposal.going[:MAX_PAIRS] if proposal else [],
        "problem": problem,
    }
    status = 422 if problem else 200
    return render(request, "building/filtering/filter_pairs.html", context, status=status)
