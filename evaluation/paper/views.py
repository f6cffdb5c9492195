"""The tables and figures of the paper, made of a dataset: to look at, and as files."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from evaluation.http import chosen, no_choice, refusal
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

of_paper = chosen(paper_choice, no_choice("evaluation/paper/nobody.html"))


@of_paper
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


@of_paper
def paper_file(request: AuthenticatedRequest, choice: PaperChoice, name: str) -> HttpResponse:
    """One file, the same that the command writes."""
    made = parts_of(choice)
    for part in made.parts.values():
        if make := files_of(choice, part).get(name):
            return _download(name, make())
    return refusal(request, choice.dataset, no_file(made, name), 404)


@of_paper
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
