"""What to label next: which reports people should read, by how much it would help, and samples of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import IntegrityError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.decimals import printed
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.charts import axis_of
from evaluation.csv_tables import csv_response, estimate_cells, estimate_header
from evaluation.data.selection import SelectionError
from evaluation.http import refusal, without_strangers
from evaluation.labelling.data import LabelData, load_label_data
from evaluation.labelling.page import LabelReport, label_report
from evaluation.labelling.params import LabelChoice, label_choice
from evaluation.labelling.samples import (
    NothingToSampleError,
    SampleResult,
    make_sample,
    sample_result,
)
from evaluation.models import LabelSample

PER_PAGE = 20


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def label_next(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The page; posted to, it samples and shows the sample."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _asked_for(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    report = _report(choice)
    if request.method == "POST":
        try:
            sample = make_sample(choice, report, request.user)
        except NothingToSampleError as error:
            messages.error(request, str(error))
            return redirect(f"{reverse('label_next', args=[slug])}?{choice.query}")
        except IntegrityError:  # a report, the rubric or the judge has gone since the page was read
            messages.error(request, "Nothing was drawn: the reports have just changed. Try again.")
            return redirect("label_next", slug)
        return redirect("label_sample", slug, sample.pk)
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
        "axis": axis_of(*(getattr(row, way) for row in report.rows for way in WAYS)),
        "page": Paginator(report.candidates, PER_PAGE).get_page(request.GET.get("page")),
        "samples": dataset.label_samples.select_related("judge", "rubric", "made_by"),
    }
    return render(request, "evaluation/labelling/label_next.html", context)


@require_safe
@researchers_only
def label_csv(request: AuthenticatedRequest, slug: str, table: str) -> HttpResponse:
    """One table of the page as a file."""
    dataset = get_object_or_404(Dataset, slug=slug)
    if table not in TABLES:
        raise Http404(f"There is no table “{table}” here. There are: {', '.join(TABLES)}.")
    try:
        choice = _asked_for(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    header, rows = TABLES[table](_report(choice))
    return csv_response(f"{slug}-label-next-{table}", header, rows)


@require_safe
@researchers_only
def label_sample(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """A sample: its reports, how far they are labelled, and the estimate from them."""
    sample = _sample(slug, pk)
    data, result = _result(sample)
    context = {
        "room": "datasets",
        "dataset": sample.dataset,
        "sample": sample,
        "selection": data.selection,
        "result": result,
    }
    return render(request, "evaluation/labelling/label_sample.html", context)


@require_safe
@researchers_only
def label_sample_csv(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """The drawn reports with their probabilities: what an estimate elsewhere needs."""
    sample = _sample(slug, pk)
    _, result = _result(sample)
    return csv_response(
        f"{slug}-sample-{sample.pk}",
        ("topic", "system", "report", "probability", "judge_coverage", "people_coverage", "people"),
        (
            [
                *(drawn.report.topic_name, drawn.report.system, drawn.report.name, drawn.chance),
                *(drawn.judge, drawn.human, drawn.n_people),
            ]
            for drawn in result.drawn
        ),
    )


def _asked_for(request: AuthenticatedRequest, dataset: Dataset) -> LabelChoice:
    names = ("rubric", "judge", "eta", "system", "size")
    return without_strangers(
        request.POST if request.method == "POST" else request.GET,
        lambda words: label_choice(
            dataset, raters=words.getlist("raters"), **{name: words.get(name) for name in names}
        ),
    )


def _report(choice: LabelChoice) -> LabelReport:
    return label_report(load_label_data(choice.selection), choice.system, choice.size)


def _sample(slug: str, pk: int) -> LabelSample:
    return get_object_or_404(
        LabelSample.objects.select_related("dataset", "judge", "rubric", "made_by"),
        dataset__slug=slug,
        pk=pk,
    )


def _result(sample: LabelSample) -> tuple[LabelData, SampleResult]:
    selection = label_choice(
        sample.dataset, rubric=sample.rubric.slug, eta=str(sample.eta)
    ).selection
    judge = next((column for column in selection.judges if column.pk == sample.judge_id), None)
    data = load_label_data(replace(selection, judge=judge))
    return data, sample_result(sample, data)


def _estimates(report: LabelReport) -> tuple[list[str], list[list[Any]]]:
    header = ["system", *(name for what in WAYS for name in estimate_header(what)), "sample"]
    rows = [
        [
            row.system,
            *(cell for way in WAYS for cell in estimate_cells(getattr(row, way))),
            row.sample.pk if row.sample else None,
        ]
        for row in report.rows
    ]
    return header, rows


def _candidates(report: LabelReport) -> tuple[list[str], list[list[Any]]]:
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
    return header, rows


def _forecasts(report: LabelReport) -> tuple[list[str], list[list[Any]]]:
    rows = [[forecast.n, forecast.drawn, forecast.equal] for forecast in report.forecasts]
    return ["labelled", "half_width_drawn", "half_width_equal_chances"], rows


def _shares(report: LabelReport) -> tuple[list[str], list[list[Any]]]:
    rows = [[*pair] for pair in zip(report.data.levels, report.data.shares.tolist(), strict=True)]
    return ["judge_grade", "people_say_answerable"], rows


WAYS = ("people", "judge", "both")
TABLES = {
    "estimates": _estimates,
    "shares": _shares,
    "forecast": _forecasts,
    "candidates": _candidates,
}
