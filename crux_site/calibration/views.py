"""Calibration: whether a judge's expected grades and probabilities are what people say."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from crux_site.calibration.chart import curve
from crux_site.calibration.page import TITLES, JudgeCalibration, judge_calibration
from evaluation.csv_tables import ESTIMATE, Cell, csv_response, estimate_cells
from evaluation.data.selection import Selection, SelectionError
from evaluation.http import asked_for, json_file, refusal

NO_JUDGE = "Calibration is of a judge: choose one."


@require_safe
@researchers_only
def calibration(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The curves of the judge in the URL, or the one that is usual."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        selection = asked_for(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    made = judge_calibration(selection) if selection.judge else None
    context = {
        "room": "datasets",
        "dataset": dataset,
        "selection": selection,
        "made": made,
        "curves": [(name, TITLES[name], part, curve(part)) for name, part in made.curves.items()]
        if made
        else [],
    }
    return render(request, "crux_site/calibration/calibration.html", context)


@require_safe
@researchers_only
def calibration_csv(request: AuthenticatedRequest, slug: str, table: str) -> HttpResponse:
    """The statistics, or the points of the curves."""
    if table not in TABLES:
        raise Http404(f"There is no table “{table}” here. There are: {', '.join(TABLES)}.")
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        _, made = _made(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    header, rows = TABLES[table](made)
    return csv_response(f"{slug}-calibration-{table}", header, rows)


@require_safe
@researchers_only
def calibration_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All of the page as one object."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        selection, made = _made(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    points_header, points = _points(made)
    content: dict[str, Any] = {
        "dataset": dataset.slug,
        "rubric": selection.rubric.slug,
        "judge": selection.judge.name if selection.judge else None,
        "eta": selection.eta,
        "raters": [rater.name for rater in selection.raters],
        "pairs_with_probabilities": made.n_told,
        "statistics": [
            {"of": of, "measure": measure}
            | dict(zip(ESTIMATE, estimate_cells(estimate), strict=True))
            for of, measure, estimate in made.estimates
        ],
        "points": [dict(zip(points_header, point, strict=True)) for point in points],
    }
    return json_file(f"{slug}-calibration", content)


def _made(request: AuthenticatedRequest, dataset: Dataset) -> tuple[Selection, JudgeCalibration]:
    selection = asked_for(request, dataset)
    if selection.judge is None:
        raise SelectionError(NO_JUDGE)
    return selection, judge_calibration(selection)


def _statistics(made: JudgeCalibration) -> tuple[list[str], list[list[Cell]]]:
    return ["of", "measure", *ESTIMATE], [
        [of, measure, *estimate_cells(estimate)] for of, measure, estimate in made.estimates
    ]


def _points(made: JudgeCalibration) -> tuple[list[str], list[list[Cell]]]:
    return ["of", "above", "up_to", "n", "mean_expected", "mean_observed"], [
        [name, part.low, part.high, part.n, part.expected, part.observed]
        for name, curve_of in made.curves.items()
        for part in curve_of.bins
    ]


TABLES = {"statistics": _statistics, "points": _points}
