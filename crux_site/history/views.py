"""History of a dataset, and the undo of imports."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import IntegrityError
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.http import AuthenticatedRequest, PageNotFoundError, owners_only, researchers_only
from annotation.models import Dataset, ProjectEntry
from annotation.row_versions import VERSION
from crux_site.history.forms import RemovalConfirmationForm
from crux_site.history.import_undo import (
    ImportUndoneError,
    import_label,
    import_noun,
    undo_preview,
)
from crux_site.history.import_undo import undo as undo_import
from crux_site.history.page import events
from crux_site.removal import RemovalChangedError
from evaluation.result_tables import csv_response

PER_PAGE = 50


@require_safe
@researchers_only
def history(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the events of the dataset, with person and time."""
    dataset = get_object_or_404(Dataset, slug=slug)
    page = Paginator(events(dataset), PER_PAGE).get_page(request.GET.get("page"))
    context = {"room": "datasets", "dataset": dataset, "page": page}
    return render(request, "crux_site/history/history.html", context)


@require_safe
@researchers_only
def history_csv(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Send the whole history as CSV."""
    dataset = get_object_or_404(Dataset, slug=slug)
    rows = [
        [event.at.isoformat(), str(event.by or ""), event.action, event.detail]
        for event in events(dataset)
    ]
    return csv_response(f"{slug}.history", ["at", "by", "what", "detail"], rows)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def undo(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """GET: preview the undo, or the reasons that block it. POST: undo the import."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    entry = get_object_or_404(dataset.log.exclude(rows={}), pk=pk)
    pending, refused = undo_preview(entry, dataset), ""
    if ProjectEntry.objects.filter(undoes=entry).exists():
        refused = "This import is already undone."
    data = request.POST if request.method == "POST" else None
    form = RemovalConfirmationForm(dataset.slug, pending.n, data, version=pending.version)
    if not refused and form.is_valid():
        try:
            known_version = request.POST.get(VERSION, "")
            pending = undo_import(entry, dataset, request.user, known_version)
        except RemovalChangedError as changed:
            form.add_error(None, str(changed))
        except ImportUndoneError as undone:
            refused = str(undone)
        except Dataset.DoesNotExist as error:
            raise PageNotFoundError("The dataset was deleted.") from error
        except IntegrityError:
            refused = "Nothing was undone, because somebody has just used data of this import."
        else:
            if not pending.reasons:
                messages.success(
                    request, f"The {import_noun(entry)} of {import_label(entry)} is undone."
                )
                return redirect("history", slug)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "entry": entry,
        "called": import_label(entry),
        "noun": import_noun(entry),
        "found": pending,
        "refused": refused,
        "form": form,
    }
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/history/undo.html", context, status=status)
