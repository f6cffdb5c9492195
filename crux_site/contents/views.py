"""What of a dataset owners can call otherwise or remove: the list, and one of them."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.formats.writing import ExportError
from annotation.http import AuthenticatedRequest, owners_only
from annotation.models import Dataset
from crux_site.contents.forms import RenameForm
from crux_site.contents.things import KINDS, RemovedMeanwhile, Thing, Whole
from crux_site.history.forms import SureForm


@require_safe
@owners_only
def contents(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """All that can be renamed and removed."""
    dataset = get_object_or_404(Dataset, slug=slug)
    listed = [(kind.KIND, kind.CALLED, kind.names(dataset)) for kind in KINDS.values()]
    context = {"room": "datasets", "dataset": dataset, "listed": listed}
    return render(request, "crux_site/contents/contents.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def thing(request: AuthenticatedRequest, slug: str, kind: str) -> HttpResponseBase:
    """GET: what would go with it. POST: it goes, or has another name."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    if kind not in KINDS:
        raise Http404(f"There are {', '.join(KINDS)} in a dataset, and no {kind}.")
    name = dataset.title if kind == Whole.KIND else request.GET.get("name", "")
    if name not in KINDS[kind].names(dataset):
        raise Http404(f"There is no {KINDS[kind].CALLED} {name!r} in the dataset.")
    which = KINDS[kind](dataset, name)
    going = which.going()
    act, refused = request.POST.get("act"), ""
    rename = RenameForm(which, request.POST if act == "rename" else None)
    sure = SureForm(slug, going.n, request.POST if act == "remove" else None)
    if rename.is_valid():
        new = rename.cleaned_data["new"]
        try:
            why_not = which.rename(new, request.user)
        except RemovedMeanwhile as error:
            why_not = str(error)
        if not why_not:
            messages.success(request, f"{name} is called {new} now.")
            return redirect("contents", slug)
        rename.add_error("new", why_not)
    elif sure.is_valid():
        try:
            going = which.remove(request.user)
        except RemovedMeanwhile as error:
            refused = str(error)
        except IntegrityError:
            refused = "Somebody has just built on it: nothing was removed."
        except (OSError, ExportError) as error:
            refused = f"The archive cannot be written, so that nothing was removed: {error}."
        else:
            if not going.reasons:
                return _gone(request, which)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "thing": which,
        "found": going,
        "rename": rename,
        "form": sure,
        "refused": refused,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "crux_site/contents/thing.html", context, status=status)


def _gone(request: AuthenticatedRequest, which: Thing) -> HttpResponseBase:
    messages.success(request, f"{which.name} is removed.")
    if isinstance(which, Whole):
        return redirect(which.dataset.project)
    return redirect("contents", which.dataset.slug)
