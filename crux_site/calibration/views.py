"""Calibration pages: curves and statistics of a judge, as HTML, CSV and JSON."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from crux_site.calibration.chart import curve
from crux_site.calibration.figures import calibration_page
from crux_site.calibration.page import TITLES, JudgeCalibration, judge_calibration, no_curve
from evaluation.data.certificates import certificates_in_words
from evaluation.data.selection import Selection, SelectionError
from evaluation.figures import render_figure
from evaluation.http import json_file, of_selection, table_called
from evaluation.result_tables import ResultTable, Statistic, estimate_record, table_file

NO_JUDGE = "Calibration needs a judge: choose one."


@of_selection
def calibration(request: AuthenticatedRequest, selection: Selection) -> HttpResponse:
    """Render the curves of the judge in the URL, or of the default judge."""
    result = judge_calibration(selection) if selection.judge else None
    context = {
        "room": "datasets",
        "dataset": selection.dataset,
        "selection": selection,
        "made": result,
        "no_curve": no_curve(selection, result),
        "curves": [
            (name, TITLES[name], part, curve(name, part)) for name, part in result.curves.items()
        ]
        if result
        else [],
    }
    return render(request, "crux_site/calibration/calibration.html", context)


@of_selection
def calibration_figure(request: AuthenticatedRequest, selection: Selection) -> HttpResponse:
    """Render an interactive figure above its tables."""
    result = judge_calibration(selection) if selection.judge else None
    explore = calibration_page(selection, result)
    return render_figure(request, selection.dataset, explore, selection=selection)


@of_selection
def calibration_table_file(
    request: AuthenticatedRequest, selection: Selection, table: str, file_format: str
) -> HttpResponse:
    """Return the statistics, or the points of the curves, as a file."""
    return table_file(
        request,
        file_format,
        table_called(table, TABLES)(_calibration_of(selection)),
        name=f"{selection.dataset.slug}-calibration-{table}",
        caption=f"Calibration of a judge in {selection.dataset.title}: {table}",
    )


@of_selection
def calibration_json(request: AuthenticatedRequest, selection: Selection) -> HttpResponse:
    """Return the whole page as a JSON file."""
    result = _calibration_of(selection)
    content: dict[str, Any] = {
        "dataset": selection.dataset.slug,
        "certificates": certificates_in_words(selection.dataset, selection.filter_phrases()),
        "rubric": selection.rubric.slug,
        "judge": selection.judge.name if selection.judge else None,
        "eta": selection.eta,
        "raters": [rater.name for rater in selection.raters],
        "campaign": selection.campaign.slug if selection.campaign else None,
        "exposed": selection.exposed,
        "pairs_with_probabilities": result.n_told,
        "statistics": [
            {"of": of, "measure": measure} | estimate_record(estimate)
            for of, measure, estimate in result.estimates
        ],
        "points": _points(result).records(),
    }
    return json_file(f"{selection.dataset.slug}-calibration", content)


def _calibration_of(selection: Selection) -> JudgeCalibration:
    """Return the calibration of the selection's judge. Raises SelectionError without a judge."""
    if selection.judge is None:
        raise SelectionError(NO_JUDGE)
    return judge_calibration(selection)


def _statistics(result: JudgeCalibration) -> ResultTable:
    return ResultTable(["of", "measure", Statistic("")], result.estimates)


def _points(result: JudgeCalibration) -> ResultTable:
    return ResultTable(
        ["of", "above", "up_to", "n", "mean_expected", "mean_observed"],
        [
            [name, part.low, part.high, part.n, part.expected, part.observed]
            for name, curve_of in result.curves.items()
            for part in curve_of.bins
        ],
    )


TABLES = {"statistics": _statistics, "points": _points}
