"""Sub-questions that no passage answers, or whose grades do not hold, and leaving them out."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from annotation.row_versions import VERSION
from building.engine.critiques import (
    EXAMPLE,
    MISSING,
    PairFilter,
    graders_of,
    leave_out,
    pair_filter,
)
from building.engine.filtering import Filter, FilterRefused, apply, filter_of, judges_of
from evaluation.data.cache import cached
from evaluation.data.selection import SelectionError
from evaluation.scoring.options import DEFAULT_ETA

SHOWN = 200  # pairs that a page lists
PER_PAGE = 20  # topics


def _refuse_if_changed(request: AuthenticatedRequest, found: Filter | PairFilter) -> None:
    """Raise FilterRefused where the proposal is another one than on the page that was sent."""
    if request.POST.get(VERSION, found.version) != found.version:
        raise FilterRefused(
            "Nothing was left out: the grades or the questions have changed since you opened the page. This is "
            "the proposal now."
        )


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def filter_questions(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What a judge's grades propose; an admin leaves these questions out."""
    dataset = get_object_or_404(Dataset, slug=slug)
    is_act = request.method == "POST"
    if is_act and not request.user.is_admin:
        raise PermissionDenied("Only admins change a collection.")
    judges = judges_of(dataset)
    asked = request.POST if is_act else request.GET
    judge, eta = asked.get("judge", next(iter(judges), "")), asked.get("eta", str(DEFAULT_ETA))
    found, problem = None, ""
    try:
        if is_act:
            found = filter_of(dataset, judge, eta)
        elif judge:
            key = ("questions to leave out", judge, eta)
            found = cached(dataset, key, lambda: filter_of(dataset, judge, eta))
        if is_act and found:
            _refuse_if_changed(request, found)
            n = apply(dataset, found)
            messages.success(request, f"Questions left out: {n:,}.")
            return redirect("building", slug)
    except (SelectionError, FilterRefused) as error:
        problem = str(error)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "judges": judges,
        "judge": judge,
        "eta": eta,
        "found": found,
        "page": Paginator(found.to_look_at if found else (), PER_PAGE).get_page(asked.get("page")),
        "query": f"{urlencode({'judge': judge, 'eta': eta})}&",
        "problem": problem,
    }
    status = 422 if problem else 200
    return render(request, "building/filtering/filter.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def filter_pairs(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What conditions on grades say of each question; an admin leaves out those that do not hold."""
    dataset = get_object_or_404(Dataset, slug=slug)
    is_act = request.method == "POST"
    if is_act and not request.user.is_admin:
        raise PermissionDenied("Only admins change a collection.")
    asked = request.POST if is_act else request.GET
    keep, missing = asked.get("keep", "").strip(), asked.get("missing", MISSING[0])
    found, problem = None, ""
    try:
        if keep or is_act:
            found = pair_filter(dataset, keep, missing)
        if is_act and found:
            _refuse_if_changed(request, found)
            n = leave_out(dataset, found)
            messages.success(request, f"Questions left out: {n:,}.")
            return redirect("building", slug)
    except (SelectionError, FilterRefused) as error:
        problem = str(error)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "named": [
            f"{name}:{who}" for name, raters in graders_of(dataset).items() for who in raters
        ],
        "keep": keep,
        "missing": missing,
        "example": EXAMPLE,
        "found": found,
        "shown": found.going[:SHOWN] if found else [],
        "problem": problem,
    }
    status = 422 if problem else 200
    return render(request, "building/filtering/filter_pairs.html", context, status=status)
