"""Views of the tables and figures of the paper: the page, and its files."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from evaluation.data.selection import SelectionError
from evaluation.http import chosen, empty_view, selection_error_page
from evaluation.replications.crux_paper.export import (
    CANNOT_DRAW,
    TYPES,
    can_draw,
    files_of,
    further_file,
    no_file,
    parts_of,
    zipped,
)
from evaluation.replications.crux_paper.page import further_tables, part_views
from evaluation.replications.crux_paper.query import PaperQuery

of_paper = chosen(PaperQuery.of_rated, empty_view("evaluation/replications/crux_paper/nobody.html"))


@of_paper
def paper(request: AuthenticatedRequest, choice: PaperQuery) -> HttpResponse:
    result = parts_of(choice)
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "parts": partial(part_views, choice, result),
        "further": partial(further_tables, choice),
        "cannot_draw": "" if can_draw() else CANNOT_DRAW,
    }
    return render(request, "evaluation/replications/crux_paper/paper.html", context)


@of_paper
def paper_file(request: AuthenticatedRequest, choice: PaperQuery, name: str) -> HttpResponse:
    """Return one file, the same that the command writes."""
    result = parts_of(choice)
    for part in result.parts.values():
        if make := files_of(choice, part).get(name):
            return _download(name, make())
    try:
        content = further_file(choice, result, name)
    except SelectionError as error:
        return selection_error_page(request, choice.dataset, str(error), 404)
    if content is not None:
        return _download(name, content)
    return selection_error_page(request, choice.dataset, no_file(result, name), 404)


@of_paper
def paper_zip(request: AuthenticatedRequest, choice: PaperQuery) -> HttpResponse:
    """Return the folder that the command writes as a .zip."""
    if not can_draw():
        return selection_error_page(request, choice.dataset, CANNOT_DRAW, 404)
    return _download(f"{choice.dataset.slug}-paper.zip", zipped(choice))


def _download(name: str, content: str | bytes) -> HttpResponse:
    """Return the file under the command's name for it: LaTeX looks for a figure by it."""
    return HttpResponse(
        content,
        content_type=TYPES[name.rpartition(".")[2]],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
