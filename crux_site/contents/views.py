"""Rename and remove entities of a dataset: the list, and the page of each."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.formats.writing import ExportError
from annotation.http import AuthenticatedRequest, owners_only
from annotation.models import Dataset
from annotation.row_versions import VERSION
from crux_site.contents.entities import KINDS, DatasetEntity, Entity, EntityRemovedError
from crux_site.contents.forms import RenameForm
from crux_site.history.forms import RemovalConfirmationForm
from crux_site.removal import RemovalChangedError


@require_safe
@owners_only
def contents(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """All that can be renamed and removed."""
    dataset = get_object_or_404(Dataset, slug=slug)
    listed = [(kind.KIND, kind.LABEL, kind.names(dataset)) for kind in KINDS.values()]
    context = {"room": "datasets", "dataset": dataset, "listed": listed}
    return render(request, "crux_site/contents/contents.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def entity_page(request: AuthenticatedRequest, slug: str, kind: str) -> HttpResponseBase:
    """GET: preview the removal. POST: remove or rename the entity."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    if kind not in KINDS:
        raise Http404(f"There are {', '.join(KINDS)} in a dataset, and no {kind}.")
    name = dataset.title if kind == DatasetEntity.KIND else request.GET.get("name", "")
    if name not in KINDS[kind].names(dataset):
        raise Http404(f"There is no {KINDS[kind].LABEL} {name!r} in the dataset.")
    entity = KINDS[kind](dataset, name)
    pending = entity.removal_preview()
    act, refused = request.POST.get("act"), ""
    rename = RenameForm(entity, request.POST if act == "rename" else None)
    data = request.POST if act == "remove" else None
    sure = RemovalConfirmationForm(slug, pending.n, data, version=pending.version)
    if rename.is_valid():
        new = rename.cleaned_data["new"]
        try:
            refusal = entity.rename(new, request.user)
        except EntityRemovedError as error:
            refusal = str(error)
        if not refusal:
            messages.success(request, f"{name} is renamed to {new}.")
            return redirect("contents", slug)
        rename.add_error("new", refusal)
    elif sure.is_valid():
        try:
            pending = entity.remove(request.user, request.POST.get(VERSION, ""))
        except RemovalChangedError as error:
            sure.add_error(None, str(error))
        except EntityRemovedError as error:
            refused = str(error)
        except IntegrityError:
            refused = "Nothing was removed, because somebody has just used it."
        except (OSError, ExportError) as error:
            refused = f"Nothing was removed, because the archive cannot be written: {error}."
        else:
            if not pending.reasons:
                return _redirect_after_removal(request, entity)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "entity": entity,
        "found": pending,
        "rename": rename,
        "form": sure,
        "refused": refused,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "crux_site/contents/entity.html", context, status=status)


def _redirect_after_removal(request: AuthenticatedRequest, entity: Entity) -> HttpResponseBase:
    messages.success(request, f"{entity.name} is removed.")
    if isinstance(entity, DatasetEntity):
        return redirect(entity.dataset.project)
    return redirect("contents", entity.dataset.slug)
