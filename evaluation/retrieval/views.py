"""Views of the retrieval pages: leaderboard, comparisons, and rankings by other grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.http import AuthenticatedRequest, View
from annotation.models import Dataset
from annotation.origins import family_marks
from evaluation.data.origins import judge_models, report_origins
from evaluation.data.relevance import relevance_sources
from evaluation.data.sources import sources
from evaluation.figures import ExplorePage, Json, render_figure
from evaluation.http import chosen, empty_view
from evaluation.models import RetrievalRun
from evaluation.page_tables import order_rows
from evaluation.result_tables import table_file
from evaluation.retrieval.charts import scatter, strips, value_axis
from evaluation.retrieval.compare import TOPIC_VALUES, comparison
from evaluation.retrieval.differences import TEST_VALUES, sampled
from evaluation.retrieval.discriminative import discriminative_power
from evaluation.retrieval.export import TABLES, download
from evaluation.retrieval.figures import (
    FIGURES,
    NO_FIGURE,
    POINT_TARGET,
    compare_figure,
    metrics_figure,
    topics_figure,
)
from evaluation.retrieval.leaderboard import Leaderboard, leaderboard
from evaluation.retrieval.page import depth, summary, table, taus_of, tests_of
from evaluation.retrieval.query import RetrievalQuery
from evaluation.retrieval.rankings import compare_sources
from evaluation.retrieval.relevance import TABLES as RELEVANCE_TABLES
from evaluation.retrieval.relevance import RelevanceQuery, relevance_page, relevance_query
from evaluation.retrieval.run import run_topics, topic_values, topics_of
from evaluation.retrieval.tags import page_url
from evaluation.scoring.depths import unequal_depths
from evaluation.scoring.row_score import REPORTS, RUNS, RowScore

PER_PAGE = 100
DIFFERENCES = (-1.0, 1.0)  # the axis on which differences are drawn

Room = Callable[
    Concatenate[AuthenticatedRequest, RetrievalQuery, Leaderboard, ...], HttpResponseBase
]


_nobody = empty_view("evaluation/retrieval/nobody.html")
_no_relevance = empty_view(
    "evaluation/retrieval/no_relevance.html", "Nobody has graded passages for whole topics."
)


def _no_scores(request: AuthenticatedRequest, dataset: Dataset) -> HttpResponseBase:
    """Render scores by relevance grades, or an empty page, where no sub-question is graded."""
    if request.path.endswith("/") and relevance_sources(dataset):
        return retrieval_relevance(request, dataset.slug)
    return _nobody(request, dataset)


def of_room(view: Room) -> View:
    """Decorate a view of a choice, passing it the scores of that choice too."""

    @chosen(RetrievalQuery.of_rated, _no_scores)
    @wraps(view)
    def wrapper(
        request: AuthenticatedRequest, choice: RetrievalQuery, *args: str, **kwargs: str
    ) -> HttpResponseBase:
        scores = leaderboard(choice.dataset, choice.options)
        if (
            "among" not in choice.given_params
            and not scores.systems(RUNS)
            and scores.systems(REPORTS)
        ):
            choice = choice.replace(among=REPORTS)
        return view(request, choice, scores, *args, **kwargs)

    return wrapper


def _context(choice: RetrievalQuery, scores: Leaderboard) -> dict[str, Any]:
    return {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "board": scores,
        "summary": summary(scores, choice),
        "depth": depth(scores, choice),
        "unlike": unequal_depths({row.title: row.sizes for row in scores.systems(RUNS)}),
        "difference_axis": DIFFERENCES,
    }


@of_room
def retrieval(
    request: AuthenticatedRequest, choice: RetrievalQuery, scores: Leaderboard
) -> HttpResponse:
    systems = scores.compared(choice.among, choice.topics)
    pairs = tests_of(scores, choice)
    tests = [test for test in pairs if test.difference.value is not None]
    tests, order = order_rows(request.GET, "tests", tests, TEST_VALUES)
    context = _context(choice, scores) | {
        "groups": table(scores, choice),
        "systems": systems,
        "strips": strips(scores, systems, choice.metric),
        "tests": tests,
        "tests_order": order,
        "n_apart": len(pairs) - len(tests),
        "sampled": sampled(test.flip for test in tests),
        "taus": taus_of(scores, choice),
    }
    return render(request, "evaluation/retrieval/retrieval.html", context)


@of_room
def retrieval_run(
    request: AuthenticatedRequest, choice: RetrievalQuery, scores: Leaderboard, name: str
) -> HttpResponse:
    """Render one system or bound, topic by topic."""
    row = scores.by_name.get(name)
    if row is None:
        raise Http404("No run, system or bound has this name.")
    values = topic_values(scores, row)
    topics, order = order_rows(request.GET, "topics", topics_of(row), values, is_main=True)
    paged = _paged(request, choice, topics)
    context = _context(choice, scores) | paged
    context |= _origins(choice, row)
    context |= {
        "row": row,
        "run": RetrievalRun.objects.filter(dataset=choice.dataset, name=name).first(),
        "topics": run_topics(scores, row, paged["page"].object_list),
        "topics_order": order,
    }
    return render(request, "evaluation/retrieval/run.html", context)


def _origins(choice: RetrievalQuery, row: RowScore) -> dict[str, Any]:
    """Return the origins of a system's reports, and marks on the judge who graded it."""
    system, judge = row.row.system, choice.options.source.rater
    reports = report_origins(choice.dataset, system) if row.group == REPORTS else None
    run = RetrievalRun.objects.filter(dataset=choice.dataset, name=system).first()
    origins = [*(reports.origins if reports else ()), *(run.origins if run else ())]
    marks = family_marks(judge_models([judge] if judge else []), origins)
    return {"reports": reports, "family_marks": marks}


@of_room
def retrieval_compare(
    request: AuthenticatedRequest, choice: RetrievalQuery, scores: Leaderboard
) -> HttpResponse:
    """Render two rows against each other, topic by topic."""
    compared = comparison(scores, choice, request.GET)
    context = _context(choice, scores) | {"compared": compared}
    if compared:
        ours, theirs = (row.of(choice.metric) for row in (compared.first, compared.second))
        plotted = scatter(ours, theirs, value_axis(ours, theirs))
        by_index = {topic.index: topic for topic in compared.topics}
        topics, order = order_rows(request.GET, "topics", compared.topics, TOPIC_VALUES)
        context |= _paged(request, choice, topics) | {
            "topics_order": order,
            "drawn": plotted,
            "points": [(point, by_index[point.index]) for point in plotted.points],
        }
    return render(request, "evaluation/retrieval/compare.html", context)


@of_room
def retrieval_judges(
    request: AuthenticatedRequest, choice: RetrievalQuery, scores: Leaderboard
) -> HttpResponse:
    """Render the rankings of the systems under other sources of grades."""
    rankings = compare_sources(choice)
    flips = (swap.flip for pair in rankings.pairs for swap in pair.metrics)
    context = _context(choice, scores) | {"others": rankings, "sampled": sampled(flips)}
    return render(request, "evaluation/retrieval/judges.html", context)


@of_room
def retrieval_discriminative(
    request: AuthenticatedRequest, choice: RetrievalQuery, scores: Leaderboard
) -> HttpResponse:
    """Render the discriminative power of each metric over pairs of systems."""
    context = _context(choice, scores) | {"found": discriminative_power(scores, choice)}
    return render(request, "evaluation/retrieval/discriminative.html", context)


@of_room
def retrieval_table_file(
    request: AuthenticatedRequest,
    choice: RetrievalQuery,
    scores: Leaderboard,
    name: str,
    file_format: str,
) -> HttpResponseBase:
    if name not in TABLES:
        raise Http404("There is no table of this name.")
    return table_file(
        request,
        file_format,
        download(scores, choice, name, request.GET),
        name=f"{choice.dataset.slug}-{name}",
        caption=f"Retrieval in {choice.dataset.title}: {name}",
    )


@of_room
def retrieval_figure(
    request: AuthenticatedRequest, choice: RetrievalQuery, scores: Leaderboard, name: str
) -> HttpResponse:
    """Render an interactive figure above its table."""
    if name not in FIGURES:
        raise Http404("There is no figure of this name.")
    systems = scores.compared(choice.among, choice.topics)
    figure: Json | None = None
    context = _context(choice, scores) | {"table": f"evaluation/retrieval/_{name}_table.html"}
    if name == "metrics" and len(systems) > 1:
        context |= {"taus": (ordered := taus_of(scores, choice))}
        figure = metrics_figure(ordered, choice)
    elif name == "topics" and systems:
        context |= {"strips": (rows := strips(scores, systems, choice.metric))}
        figure = topics_figure(rows, choice)
    elif name == "compare" and (compared := comparison(scores, choice, request.GET)):
        topics, order = order_rows(request.GET, "topics", compared.topics, TOPIC_VALUES)
        context |= _paged(request, choice, topics) | {"topics_order": order}
        context |= {"compared": compared}
        figure = compare_figure(compared, choice)
    of_metric = "" if name == "metrics" else f", by {choice.metric_title}"
    explore = ExplorePage(
        title=FIGURES[name],
        file_name=f"{choice.dataset.slug}-{name}",
        back_url=page_url(
            choice, "retrieval_compare" if name == "compare" else "retrieval", sort=None
        ),
        back_title="Pairwise comparison" if name == "compare" else "Systems",
        summary=f"{context['summary']} Compared: {choice.labels['among']}{of_metric}.",
        figure=figure,
        point_target="" if name == "metrics" else POINT_TARGET,
        empty=NO_FIGURE,
    )
    return render_figure(
        request,
        choice.dataset,
        explore,
        "evaluation/retrieval/figure.html",
        options=choice.options,
        **context,
    )


@chosen(relevance_query, _no_relevance)
def retrieval_relevance(request: AuthenticatedRequest, choice: RelevanceQuery) -> HttpResponse:
    """Render runs by relevance grades of whole topics, as trec_eval computes them."""
    page = relevance_page(choice)
    tests, order = order_rows(request.GET, "tests", page.defined_tests, TEST_VALUES)
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "page": page,
        "has_others": bool(sources(choice.dataset)),
        "tests": tests,
        "tests_order": order,
        "sampled": sampled(test.flip for test in page.tests),
        "difference_axis": DIFFERENCES,
    }
    return render(request, "evaluation/retrieval/relevance.html", context)


@chosen(relevance_query, _no_relevance)
def retrieval_relevance_table_file(
    request: AuthenticatedRequest, choice: RelevanceQuery, name: str, file_format: str
) -> HttpResponseBase:
    if name not in RELEVANCE_TABLES:
        raise Http404("There is no table of relevance grades of this name.")
    return table_file(
        request,
        file_format,
        RELEVANCE_TABLES[name](relevance_page(choice)),
        name=f"{choice.dataset.slug}-relevance-{name}",
        caption=f"Retrieval by relevance grades in {choice.dataset.title}: {name}",
    )


def _paged(
    request: AuthenticatedRequest, choice: RetrievalQuery, rows: Sequence[Any]
) -> dict[str, Any]:
    query = choice.query()
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "query": f"{query}&" if query else ""}
