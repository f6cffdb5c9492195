"""The history of a dataset, and imports undone."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import IntegrityError
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.http import AuthenticatedRequest, owners_only, researchers_only
from annotation.models import Dataset, ProjectEntry
from crux_site.history.forms import SureForm
from crux_site.history.page import events
from crux_site.history.undoing import AlreadyUndone, called, undoing
from crux_site.history.undoing import undo as undo_import
from evaluation.csv_tables import csv_response

PER_PAGE = 50


@require_safe
@researchers_only
def history(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What happened to the dataset, by whom and when."""
    dataset = get_object_or_404(Dataset, slug=slug)
    page = Paginator(events(dataset), PER_PAGE).get_page(request.GET.get("page"))
    context = {"room": "datasets", "dataset": dataset, "page": page}
    return render(request, "crux_site/history/history.html", context)


@require_safe
@researchers_only
def history_csv(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """All of it as a file."""
    dataset = get_object_or_404(Dataset, slug=slug)
    rows = [
        [event.at.isoformat(), str(event.by or ""), event.what, event.detail]
        for event in events(dataset)
    ]
    return csv_response(f"{slug}.history", ["at", "by", "what", "detail"], rows)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def undo(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """GET: what would go, or why it cannot. POST: it goes."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    entry = get_object_or_404(dataset.log.exclude(rows={}), pk=pk)
    found, refused = undoing(entry, dataset), ""
    if ProjectEntry.objects.filter(undoes=entry).exists():
        refused = "This import is undone already."
    form = SureForm(dataset.slug, found.n, request.POST if request.method == "POST" else None)
    if not refused and form.is_valid():
        try:
            found = undo_import(entry, dataset, request.user)
        except AlreadyUndone as undone:
            refused = str(undone)
        except Dataset.DoesNotExist as error:
            raise Http404("The dataset has been deleted.") from error
        except IntegrityError:
            refused = "Somebody has just built on what this import made: nothing was undone."
        else:
            if not found.reasons:
                messages.success(request, f"The import of {called(entry)} is undone.")
                return redirect("history", slug)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "entry": entry,
        "called": called(entry),
        "found": found,
        "refused": refused,
        "form": form,
    }
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/history/undo.html", context, status=status)
