"""Views of the page Label next: candidates by expected gain, and samples of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import IntegrityError
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from annotation.decimals import printed
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.data.selection import SelectionError
from evaluation.http import chosen, parse_carried, selection_error_page, table_called
from evaluation.labelling.data import LabelData, load_label_data
from evaluation.labelling.estimates import SystemRow
from evaluation.labelling.page import Candidate, LabelReport, label_report
from evaluation.labelling.query import LabelQuery, label_params, label_query
from evaluation.labelling.samples import (
    NothingToSampleError,
    SampleResult,
    make_sample,
    sample_result,
)
from evaluation.models import LabelSample
from evaluation.page_tables import SortValue, order_rows, page_query
from evaluation.result_tables import ResultTable, Statistic, table_file

PER_PAGE = 20
MIN_TARGET, MAX_TARGET = 0.005, 0.5  # half-widths that can be planned


def _parse_params(dataset: Dataset, params: QueryDict) -> LabelQuery:
    system, size = params.get("system"), params.get("size")
    return label_query(dataset, **label_params(params), system=system, size=size)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def label_next(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Render the page, or on POST draw a sample and redirect to it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        params = request.POST if request.method == "POST" else request.GET
        choice = parse_carried(params, partial(_parse_params, dataset))
    except SelectionError as error:
        return selection_error_page(request, dataset, str(error))
    report = _report(choice)
    if request.method == "POST":
        try:
            sample = make_sample(choice, report, request.user)
        except NothingToSampleError as error:
            messages.error(request, str(error))
            return redirect(f"{reverse('label_next', args=[slug])}?{choice.query()}")
        except IntegrityError:  # a report, the rubric or the judge was deleted meanwhile
            messages.error(
                request,
                "No sample was drawn, because the reports changed in the meantime. Try again.",
            )
            return redirect("label_next", slug)
        return redirect("label_sample", slug, sample.pk)
    candidates, order = order_rows(request.GET, "candidates", report.candidates, CANDIDATE_VALUES)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "choice": choice,
        "selection": choice.selection,
        "report": report,
        "shares": [
            (level, printed(share))
            for level, share in zip(report.data.levels, report.data.shares.tolist(), strict=True)
        ],
        "page": Paginator(candidates, PER_PAGE).get_page(request.GET.get("page")),
        "candidates_order": order,
        "query": page_query(choice.query(), request.GET),
        "halves": [(row, _query_of_half(choice, row)) for row in report.rows],
        "samples": dataset.label_samples.select_related("judge", "rubric", "made_by"),
    }
    return render(request, "evaluation/labelling/label_next.html", context)


def _query_of_half(choice: LabelQuery, row: SystemRow) -> str:
    """Return the query of the plans for half of a row's interval."""
    params = choice.selection.params(kind="mean", system=row.system or None)
    intervals = (row.both, row.people, row.judge)
    ends = next(((e.low, e.high) for e in intervals if e.low is not None), (None, None))
    if ends[0] is not None and ends[1] is not None:
        half_width = (ends[1] - ends[0]) / 4
        params["target"] = f"{min(max(half_width, MIN_TARGET), MAX_TARGET):.3g}"
    return urlencode(params, doseq=True)


@chosen(_parse_params)
def label_table_file(
    request: AuthenticatedRequest, choice: LabelQuery, table: str, file_format: str
) -> HttpResponse:
    """Return a table of the page as a file."""
    return table_file(
        request,
        file_format,
        table_called(table, TABLES)(_report(choice)),
        name=f"{choice.dataset.slug}-label-next-{table}",
        caption=f"Reports to label next in {choice.dataset.title}: {table}",
    )


@require_safe
@researchers_only
def label_sample(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """Render a sample: its reports, its progress, and the estimate from its labels."""
    sample = _sample(slug, pk)
    data, result = _result(sample)
    context = {
        "room": "datasets",
        "dataset": sample.dataset,
        "sample": sample,
        "selection": data.selection,
        "result": result,
        "n_exposed": data.n_exposed,
    }
    return render(request, "evaluation/labelling/label_sample.html", context)


@require_safe
@researchers_only
def label_sample_table_file(
    request: AuthenticatedRequest, slug: str, pk: int, file_format: str
) -> HttpResponse:
    """Return the sampled reports with their probabilities, for estimates elsewhere."""
    sample = _sample(slug, pk)
    _, result = _result(sample)
    table = ResultTable(
        ("topic", "system", "report", "probability", "judge_coverage", "people_coverage", "people"),
        (
            [
                *(
                    sampled.report.topic_name,
                    sampled.report.system,
                    sampled.report.name,
                    sampled.chance,
                ),
                *(sampled.judge, sampled.human, sampled.n_people),
            ]
            for sampled in result.drawn
        ),
    )
    return table_file(
        request,
        file_format,
        table,
        name=f"{slug}-sample-{sample.pk}",
        caption=f"Sample {sample.pk} of reports of {sample.dataset.title}",
    )


def _report(choice: LabelQuery) -> LabelReport:
    return label_report(load_label_data(choice.selection), choice.system, choice.size)


def _sample(slug: str, pk: int) -> LabelSample:
    return get_object_or_404(
        LabelSample.objects.select_related("dataset", "judge", "rubric", "made_by"),
        dataset__slug=slug,
        pk=pk,
    )


def _result(sample: LabelSample) -> tuple[LabelData, SampleResult]:
    selection = label_query(
        sample.dataset, rubric=sample.rubric.slug, eta=str(sample.eta)
    ).selection
    judge = next((column for column in selection.judges if column.pk == sample.judge_id), None)
    data = load_label_data(replace(selection, judge=judge))
    return data, sample_result(sample, data)


def _estimates(report: LabelReport) -> ResultTable:
    header = [
        "system",
        *(Statistic(estimator) for estimator in ESTIMATORS),
        "sample",
    ]
    rows = [
        [
            row.system,
            *(getattr(row, estimate) for estimate in ESTIMATORS),
            row.sample.pk if row.sample else None,
        ]
        for row in report.rows
    ]
    return ResultTable(header, rows)


def _candidates(report: LabelReport) -> ResultTable:
    header = ["topic", "system", "report", "judge_coverage", "expected_gap", "probability"]
    rows = [
        [
            candidate.report.topic_name,
            candidate.report.system,
            candidate.report.name,
            candidate.judge,
            candidate.gap,
            candidate.chance,
        ]
        for candidate in report.candidates
    ]
    return ResultTable(header, rows)


def _forecasts(report: LabelReport) -> ResultTable:
    rows = [[forecast.n, forecast.drawn, forecast.equal] for forecast in report.forecasts]
    return ResultTable(["labelled", "half_width_drawn", "half_width_equal_chances"], rows)


def _shares(report: LabelReport) -> ResultTable:
    rows = [[*pair] for pair in zip(report.data.levels, report.data.shares.tolist(), strict=True)]
    return ResultTable(["judge_grade", "people_say_answerable"], rows)


ESTIMATORS = ("people", "judge", "both")
CANDIDATE_VALUES: dict[str, Callable[[Candidate], SortValue]] = {
    "report": lambda candidate: candidate.report.name,
    "topic": lambda candidate: candidate.report.topic_name,
    "system": lambda candidate: candidate.report.system,
    "coverage": lambda candidate: candidate.judge,
    "gap": lambda candidate: candidate.gap,
    "probability": lambda candidate: candidate.chance,
}
"""Values by which the reports to choose from are sorted, by column."""
TABLES = {
    "estimates": _estimates,
    "shares": _shares,
    "forecast": _forecasts,
    "candidates": _candidates,
}
