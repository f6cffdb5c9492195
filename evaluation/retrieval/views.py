"""The retrieval room: systems and what they score, against each other and under other grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Concatenate

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import refusal
from evaluation.plotly_file import URL, style_ids
from evaluation.retrieval.board import REPORTS, RUNS, Board, board
from evaluation.retrieval.charts import estimate_axis, scatter, strips, value_axis
from evaluation.retrieval.compare import comparison
from evaluation.retrieval.differences import sampled
from evaluation.retrieval.export import TABLES, download
from evaluation.retrieval.figures import FIGURES, compare_figure, metrics_figure, topics_figure
from evaluation.retrieval.orders import taus, under_others
from evaluation.retrieval.page import depth, summary, table, tests_of
from evaluation.retrieval.params import NAME, Choice, retrieval_choice
from evaluation.retrieval.run import run_topics, topic_order
from evaluation.scoring.depths import unlike_depths
from evaluation.scoring.score import METRICS

PER_PAGE = 100
DIFFERENCES = (-1.0, 1.0)  # the axis on which differences are drawn

Room = Callable[Concatenate[AuthenticatedRequest, Choice, Board, ...], HttpResponseBase]
Unrated = Callable[[AuthenticatedRequest, Dataset], HttpResponse]


def _nobody(request: AuthenticatedRequest, dataset: Dataset) -> HttpResponse:
    context = {"room": "datasets", "dataset": dataset}
    return render(request, "evaluation/retrieval/nobody.html", context)


def of_room(view: Room, unrated: Unrated = _nobody) -> Callable[..., HttpResponseBase]:
    """A view for researchers that is given the state in the URL, and the scores under it.

    A choice that is not there is answered with the choices there are, and a dataset that nobody
    has rated with `unrated`.
    """

    @require_safe
    @researchers_only
    @wraps(view)
    def opened(
        request: AuthenticatedRequest, slug: str, *place: str, **named: str
    ) -> HttpResponseBase:
        dataset = get_object_or_404(Dataset, slug=slug)
        try:
            choice = retrieval_choice(dataset, request.GET.dict())
            if choice is None:
                return unrated(request, dataset)
            found = board(dataset, choice.options)
            if "among" not in choice.words and not found.systems(RUNS) and found.systems(REPORTS):
                choice = replace(choice, among=REPORTS)
            return view(request, choice, found, *place, **named)
        except SelectionError as error:
            return refusal(request, dataset, str(error))

    return opened


def _no_file(request: AuthenticatedRequest, dataset: Dataset) -> HttpResponse:
    raise Http404("Nobody has rated a text of this dataset yet.")


def _context(choice: Choice, found: Board) -> dict[str, Any]:
    return {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "board": found,
        "said": summary(found, choice),
        "depth": depth(found, choice),
        "unlike": unlike_depths({row.title: row.sizes for row in found.systems(RUNS)}),
        "difference_axis": DIFFERENCES,
    }


@of_room
def retrieval(request: AuthenticatedRequest, choice: Choice, found: Board) -> HttpResponse:
    systems = found.systems(choice.among)
    every = tests_of(found, choice)
    tests = [test for test in every if test.difference.value is not None]
    context = _context(choice, found) | {
        "groups": table(found, choice),
        "axes": {
            metric: estimate_axis(row.means[metric] for row in found.rows) for metric in METRICS
        },
        "systems": systems,
        "strips": strips(found, systems, choice.metric),
        "tests": tests,
        "n_apart": len(every) - len(tests),
        "sampled": sampled(test.flip for test in tests),
        "taus": taus(systems),
    }
    return render(request, "evaluation/retrieval/retrieval.html", context)


@of_room
def retrieval_run(
    request: AuthenticatedRequest, choice: Choice, found: Board, name: str
) -> HttpResponse:
    """One system or bound, topic by topic."""
    row = found.by_name.get(name)
    if row is None:
        raise Http404("No run, system or bound has this name.")
    if "sort" not in choice.words:
        choice = replace(choice, sort=NAME)
    paged = _paged(request, choice, topic_order(row, choice))
    context = _context(choice, found) | paged
    context |= {
        "row": row,
        "topics": run_topics(found, row, paged["page"].object_list),
        "axes": {metric: estimate_axis([row.means[metric]]) for metric in METRICS},
    }
    return render(request, "evaluation/retrieval/run.html", context)


@of_room
def retrieval_compare(request: AuthenticatedRequest, choice: Choice, found: Board) -> HttpResponse:
    """Two rows against each other, topic by topic."""
    compared = comparison(found, choice, request.GET)
    context = _context(choice, found) | {"found": compared}
    if compared:
        ours, theirs = (row.of(choice.metric) for row in (compared.first, compared.second))
        drawn = scatter(ours, theirs, value_axis(ours, theirs))
        by_place = {one.at: one for one in compared.topics}
        context |= _paged(request, choice, compared.topics) | {
            "drawn": drawn,
            "points": [(point, by_place[point.at]) for point in drawn.points],
        }
    return render(request, "evaluation/retrieval/compare.html", context)


@of_room
def retrieval_judges(request: AuthenticatedRequest, choice: Choice, found: Board) -> HttpResponse:
    """The systems under other sources of grades."""
    named = request.GET.getlist("with")
    choice = replace(choice, words={**choice.words, "with": ",".join(named)}) if named else choice
    others = under_others(choice)
    flips = (one.flip for pair in others.pairs for one in pair.metrics)
    context = _context(choice, found) | {"others": others, "sampled": sampled(flips)}
    return render(request, "evaluation/retrieval/judges.html", context)


@partial(of_room, unrated=_no_file)
def retrieval_csv(
    request: AuthenticatedRequest, choice: Choice, found: Board, name: str
) -> HttpResponseBase:
    if name not in TABLES:
        raise Http404("No table of this room has this name.")
    header, rows = download(found, choice, name, request.GET)
    return csv_response(f"{choice.dataset.slug}-{name}", header, rows)


@of_room
def retrieval_figure(
    request: AuthenticatedRequest, choice: Choice, found: Board, name: str
) -> HttpResponse:
    """A figure to move about in, above its table: the one page that loads plotly.js."""
    if name not in FIGURES:
        raise Http404("No figure of this room has this name.")
    systems = found.systems(choice.among)
    drawn: dict[str, Any] = {"table": f"evaluation/retrieval/_{name}_table.html"}
    if name == "metrics" and len(systems) > 1:
        drawn |= {"taus": (ordered := taus(systems)), "figure": metrics_figure(ordered, choice)}
    elif name == "topics" and systems:
        rows = strips(found, systems, choice.metric)
        drawn |= {"strips": rows, "figure": topics_figure(rows, found, choice)}
    elif name == "compare" and (compared := comparison(found, choice, request.GET)):
        drawn |= _paged(request, choice, compared.topics)
        drawn |= {"found": compared, "figure": compare_figure(compared, choice)}
    context = _context(choice, found) | drawn
    context |= {"name": name, "title": FIGURES[name], "plotly": URL, "style_ids": style_ids()}
    return render(request, "evaluation/retrieval/figure.html", context)


def _paged(request: AuthenticatedRequest, choice: Choice, rows: Sequence[Any]) -> dict[str, Any]:
    query = choice.query()
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "query": f"{query}&" if query else ""}
