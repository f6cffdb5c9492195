"""The tables and figures of the paper, made of a dataset: to look at, and as files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Concatenate

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.data.selection import SelectionError
from evaluation.http import refusal, without_strangers
from evaluation.paper.export import (
    CANNOT_DRAW,
    TYPES,
    can_draw,
    files_of,
    no_file,
    parts_of,
    zipped,
)
from evaluation.paper.page import shown
from evaluation.paper.params import PaperChoice, paper_choice

View = Callable[Concatenate[AuthenticatedRequest, PaperChoice, ...], HttpResponseBase]


def chosen(view: View) -> Callable[..., HttpResponseBase]:
    """A view for researchers that is given the state in the URL.

    A choice that is not there is answered with the choices there are, and a dataset that nobody has
    rated with a page that says so.
    """

    @require_safe
    @researchers_only
    @wraps(view)
    def opened(request: AuthenticatedRequest, slug: str, **place: str) -> HttpResponseBase:
        dataset = get_object_or_404(Dataset, slug=slug)
        try:
            choice = without_strangers(request.GET, partial(paper_choice, dataset))
            if choice is None:
                context = {"room": "datasets", "dataset": dataset}
                status = 200 if request.path.endswith("/") else 404
                return render(request, "evaluation/paper/nobody.html", context, status=status)
            return view(request, choice, **place)
        except SelectionError as error:
            return refusal(request, dataset, str(error))

    return opened


@chosen
def paper(request: AuthenticatedRequest, choice: PaperChoice) -> HttpResponse:
    made = parts_of(choice)
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "parts": partial(shown, choice, made),
        "cannot_draw": "" if can_draw() else CANNOT_DRAW,
    }
    return render(request, "evaluation/paper/paper.html", context)


@chosen
def paper_file(request: AuthenticatedRequest, choice: PaperChoice, name: str) -> HttpResponse:
    """One file, the same that the command writes."""
    made = parts_of(choice)
    for part in made.parts.values():
        if make := files_of(choice, part).get(name):
            return _download(name, make())
    return refusal(request, choice.dataset, no_file(made, name), 404)


@chosen
def paper_zip(request: AuthenticatedRequest, choice: PaperChoice) -> HttpResponse:
    """The folder that the command writes."""
    if not can_draw():
        return refusal(request, choice.dataset, CANNOT_DRAW, 404)
    return _download(f"{choice.dataset.slug}-paper.zip", zipped(choice))


def _download(name: str, content: str | bytes) -> HttpResponse:
    """Under the name that the command gives it: LaTeX looks for a figure by it."""
    return HttpResponse(
        content,
        content_type=TYPES[name.rpartition(".")[2]],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
