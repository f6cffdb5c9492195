"""The retrieval room: systems and what they score, against each other and under other grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.http import AuthenticatedRequest, View
from annotation.models import Dataset
from evaluation.csv_tables import csv_response
from evaluation.data.relevance import relevance_sources
from evaluation.data.sources import sources
from evaluation.http import chosen, no_choice
from evaluation.models import RetrievalRun
from evaluation.plotly_file import URL, style_ids
from evaluation.retrieval.board import Board, board
from evaluation.retrieval.charts import estimate_axis, scatter, strips, value_axis
from evaluation.retrieval.compare import comparison
from evaluation.retrieval.differences import sampled
from evaluation.retrieval.discriminative import telling_apart
from evaluation.retrieval.export import TABLES, download
from evaluation.retrieval.figures import FIGURES, compare_figure, metrics_figure, topics_figure
from evaluation.retrieval.orders import under_others
from evaluation.retrieval.page import depth, summary, table, taus_of, tests_of
from evaluation.retrieval.params import NAME, Choice, retrieval_choice
from evaluation.retrieval.relevance import TABLES as RELEVANCE_TABLES
from evaluation.retrieval.relevance import RelevanceChoice, relevance_choice, relevance_page
from evaluation.retrieval.run import run_topics, topic_order
from evaluation.scoring.depths import unlike_depths
from evaluation.scoring.row_score import METRICS, REPORTS, RUNS

PER_PAGE = 100
DIFFERENCES = (-1.0, 1.0)  # the axis on which differences are drawn

Room = Callable[Concatenate[AuthenticatedRequest, Choice, Board, ...], HttpResponseBase]


_nobody = no_choice("evaluation/retrieval/nobody.html")
_no_relevance = no_choice(
    "evaluation/retrieval/no_relevance.html", "Nobody has graded passages for whole topics."
)


def _no_scores(request: AuthenticatedRequest, dataset: Dataset) -> HttpResponseBase:
    """Page without grades of sub-questions: scores by relevance grades, or a note on what is missing."""
    if request.path.endswith("/") and relevance_sources(dataset):
        return retrieval_relevance(request, dataset.slug)
    return _nobody(request, dataset)


def of_room(view: Room) -> View:
    """A view of a choice that is given the scores under it, too."""

    @chosen(retrieval_choice, _no_scores)
    @wraps(view)
    def opened(
        request: AuthenticatedRequest, choice: Choice, *place: str, **named: str
    ) -> HttpResponseBase:
        scores = board(choice.dataset, choice.options)
        if "among" not in choice.words and not scores.systems(RUNS) and scores.systems(REPORTS):
            choice = replace(choice, among=REPORTS)
        return view(request, choice, scores, *place, **named)

    return opened


def _context(choice: Choice, scores: Board) -> dict[str, Any]:
    return {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "board": scores,
        "summary": summary(scores, choice),
        "depth": depth(scores, choice),
        "unlike": unlike_depths({row.title: row.sizes for row in scores.systems(RUNS)}),
        "difference_axis": DIFFERENCES,
    }


@of_room
def retrieval(request: AuthenticatedRequest, choice: Choice, scores: Board) -> HttpResponse:
    systems = scores.compared(choice.among, choice.topics)
    every = tests_of(scores, choice)
    tests = [test for test in every if test.difference.value is not None]
    context = _context(choice, scores) | {
        "groups": table(scores, choice),
        "axes": {
            metric: estimate_axis(row.means[metric] for row in scores.rows) for metric in METRICS
        },
        "systems": systems,
        "strips": strips(scores, systems, choice.metric),
        "tests": tests,
        "n_apart": len(every) - len(tests),
        "sampled": sampled(test.flip for test in tests),
        "taus": taus_of(scores, choice),
    }
    return render(request, "evaluation/retrieval/retrieval.html", context)


@of_room
def retrieval_run(
    request: AuthenticatedRequest, choice: Choice, scores: Board, name: str
) -> HttpResponse:
    """One system or bound, topic by topic."""
    row = scores.by_name.get(name)
    if row is None:
        raise Http404("No run, system or bound has this name.")
    if "sort" not in choice.words:
        choice = replace(choice, sort=NAME)
    paged = _paged(request, choice, topic_order(row, choice))
    context = _context(choice, scores) | paged
    context |= {
        "row": row,
        "run": RetrievalRun.objects.filter(dataset=choice.dataset, name=name).first(),
        "topics": run_topics(scores, row, paged["page"].object_list),
        "axes": {metric: estimate_axis([row.means[metric]]) for metric in METRICS},
    }
    return render(request, "evaluation/retrieval/run.html", context)


@of_room
def retrieval_compare(request: AuthenticatedRequest, choice: Choice, scores: Board) -> HttpResponse:
    """Two rows against each other, topic by topic."""
    compared = comparison(scores, choice, request.GET)
    context = _context(choice, scores) | {"compared": compared}
    if compared:
        ours, theirs = (row.of(choice.metric) for row in (compared.first, compared.second))
        drawn = scatter(ours, theirs, value_axis(ours, theirs))
        by_place = {topic.index: topic for topic in compared.topics}
        context |= _paged(request, choice, compared.topics) | {
            "drawn": drawn,
            "points": [(point, by_place[point.index]) for point in drawn.points],
        }
    return render(request, "evaluation/retrieval/compare.html", context)


@of_room
def retrieval_judges(request: AuthenticatedRequest, choice: Choice, scores: Board) -> HttpResponse:
    """The systems under other sources of grades."""
    named = request.GET.getlist("with")
    choice = replace(choice, words={**choice.words, "with": ",".join(named)}) if named else choice
    others = under_others(choice)
    flips = (swap.flip for pair in others.pairs for swap in pair.metrics)
    context = _context(choice, scores) | {"others": others, "sampled": sampled(flips)}
    return render(request, "evaluation/retrieval/judges.html", context)


@of_room
def retrieval_discriminative(
    request: AuthenticatedRequest, choice: Choice, scores: Board
) -> HttpResponse:
    """How many pairs of systems each metric finds different."""
    context = _context(choice, scores) | {"found": telling_apart(scores, choice)}
    return render(request, "evaluation/retrieval/discriminative.html", context)


@of_room
def retrieval_csv(
    request: AuthenticatedRequest, choice: Choice, scores: Board, name: str
) -> HttpResponseBase:
    if name not in TABLES:
        raise Http404("No table of this room has this name.")
    header, rows = download(scores, choice, name, request.GET)
    return csv_response(f"{choice.dataset.slug}-{name}", header, rows)


@of_room
def retrieval_figure(
    request: AuthenticatedRequest, choice: Choice, scores: Board, name: str
) -> HttpResponse:
    """A figure to move about in, above its table: the one page that loads plotly.js."""
    if name not in FIGURES:
        raise Http404("No figure of this room has this name.")
    systems = scores.compared(choice.among, choice.topics)
    drawn: dict[str, Any] = {"table": f"evaluation/retrieval/_{name}_table.html"}
    if name == "metrics" and len(systems) > 1:
        drawn |= {
            "taus": (ordered := taus_of(scores, choice)),
            "figure": metrics_figure(ordered, choice),
        }
    elif name == "topics" and systems:
        rows = strips(scores, systems, choice.metric)
        drawn |= {"strips": rows, "figure": topics_figure(rows, choice)}
    elif name == "compare" and (compared := comparison(scores, choice, request.GET)):
        drawn |= _paged(request, choice, compared.topics)
        drawn |= {"compared": compared, "figure": compare_figure(compared, choice)}
    context = _context(choice, scores) | drawn
    context |= {"name": name, "title": FIGURES[name], "plotly": URL, "style_ids": style_ids()}
    return render(request, "evaluation/retrieval/figure.html", context)


@chosen(relevance_choice, _no_relevance)
def retrieval_relevance(request: AuthenticatedRequest, choice: RelevanceChoice) -> HttpResponse:
    """Runs by relevance grades of whole topics, as trec_eval computes them."""
    page = relevance_page(choice)
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "page": page,
        "has_others": bool(sources(choice.dataset)),
        "axes": {
            measure: estimate_axis(row.means[measure] for row in page.scores.rows)
            for measure in choice.options.measures
        },
        "sampled": sampled(test.flip for test in page.tests),
        "difference_axis": DIFFERENCES,
    }
    return render(request, "evaluation/retrieval/relevance.html", context)


@chosen(relevance_choice, _no_relevance)
def retrieval_relevance_csv(
    request: AuthenticatedRequest, choice: RelevanceChoice, name: str
) -> HttpResponseBase:
    if name not in RELEVANCE_TABLES:
        raise Http404("No table of relevance grades has this name.")
    header, rows = RELEVANCE_TABLES[name](relevance_page(choice))
    return csv_response(f"{choice.dataset.slug}-relevance-{name}", header, rows)


def _paged(request: AuthenticatedRequest, choice: Choice, rows: Sequence[Any]) -> dict[str, Any]:
    query = choice.query()
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "query": f"{query}&" if query else ""}
