"""The agreement page: agreement of the raters and of a judge, also as CSV and JSON files."""

from __future__ import annotations

from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rater
from evaluation.agreement.confusions import sides_of
from evaluation.agreement.coverage_chart import confusion_rows, coverage_panels
from evaluation.agreement.figures import FIGURES
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.judges import compare_with_people
from evaluation.agreement.parts import Part
from evaluation.agreement.report import AgreementReport, cached_report
from evaluation.agreement.report_json import as_json
from evaluation.agreement.sweep_chart import sweep_charts
from evaluation.agreement.tables import TABLES, agreement_table
from evaluation.agreement.truncation import TruncatedRows, truncate_reports, truncate_rows
from evaluation.charts import axis_of
from evaluation.data.selection import Selection, SelectionError, one_of
from evaluation.figures import render_figure
from evaluation.http import json_file, of_selection, selection_error_page
from evaluation.result_tables import table_file


@of_selection
def agreement(request: AuthenticatedRequest, selection: Selection) -> HttpResponse:
    report, judged = requested_report(request, selection)
    truth = request.GET.get("truth", "")
    everything = request.GET.get("rows") == "all"
    panels = coverage_panels(report, everything=everything)
    params = {name: request.GET.get(name, "") for name in ("of", "against")}
    sides = sides_of(report, params["of"], params["against"])
    context = {
        "room": "datasets",
        "dataset": selection.dataset,
        "selection": selection,
        "measures": selection.measures.available,
        "report": report,
        "spread": sorted(
            (part for part in report.systems if part.kappa.value is not None),
            key=lambda part: part.kappa.value or 0.0,
        ),
        "systems": truncate_rows(report.systems, _kappa, everything=everything),
        "topics": truncate_rows(
            sorted(
                report.topics,
                key=lambda part: (part.kappa.value is None, -(part.kappa.value or 0.0)),
            ),
            _kappa,
            everything=everything,
        ),
        "coverages": truncate_reports(report.reports, everything=everything),
        "pairs": truncate_rows(report.pairs, lambda pair: pair.kappa.value, everything=everything),
        "raters": truncate_rows(
            report.raters, lambda row: row.prevalence.value, everything=everything
        ),
        "majority": truncate_rows(
            report.majority, lambda row: row.kappa.value, everything=everything
        ),
        "correlations": truncate_rows(
            report.correlations, lambda row: row.r, everything=everything
        ),
        "by_rater": truncate_rows(report.judge_by_rater, _judge_kappa, everything=everything),
        "by_system": truncate_rows(report.judge_by_system, _judge_kappa, everything=everything),
        "slices": TruncatedRows(report.slices, len(report.slices), None),
        "n_unsliced": report.n_items - sum(part.n_items for part in report.slices),
        "composition": truncate_rows(
            report.graded, lambda row: float(row.n), everything=everything
        ),
        "sides": sides if "matrix" in selection.measures else None,
        "sides_rows": confusion_rows(sides.matrix, report.levels, None) if sides else [],
        "kept": selection.params(),
        "panels": panels,
        "legend_raters": selection.raters[:1] if selection.is_crowd else selection.raters,
        "is_thinned": any(panel.is_thinned for panel in panels.rows),
        "pair_axis": axis_of(*(pair.kappa for pair in report.pairs)),
        "part_axis": axis_of(
            *(part.kappa for part in (*report.systems, *report.topics, *report.slices))
        ),
        "label_axis": axis_of(*(label.kappa for label in report.labels)),
        "judged": judged,
        # The selection of links to the pairs of one rater: with that rater alone.
        "held": replace(
            selection,
            raters=tuple(r for r in selection.raters if r.name == truth) or selection.raters,
        ),
        "truth": truth,
        "confusion": confusion_rows(
            judged.matrix, judged.levels, selection.eta if selection.one_scale else 1
        )
        if judged
        else [],
        "sweeps": sweep_charts(judged.sweep) if judged else [],
    }
    return render(request, "evaluation/agreement/agreement.html", context)


def requested_report(
    request: AuthenticatedRequest, selection: Selection
) -> tuple[AgreementReport, AgainstJudge | None]:
    """Return the report of a selection, and the judge against the rater `truth` in the URL.

    Raises SelectionError where the URL names a choice that does not exist.
    """
    report = cached_report(selection)
    return report, report.judged(request.GET.get("truth", ""))


def _kappa(part: Part) -> float | None:
    return part.kappa.value


def _judge_kappa(part: AgainstJudge) -> float | None:
    return part.cohen_binary.value


@of_selection
def agreement_table_file(
    request: AuthenticatedRequest, selection: Selection, table: str, file_format: str
) -> HttpResponse:
    try:
        one_of("table of the agreement page called", table, TABLES)
    except SelectionError as error:
        return selection_error_page(request, selection.dataset, str(error), status=404)
    return table_file(
        request,
        file_format,
        agreement_table(table, *requested_report(request, selection)),
        name=f"{selection.dataset.slug}-agreement-{table}",
        caption=f"Agreement in {selection.dataset.title}: {table}",
    )


@of_selection
def agreement_figure(
    request: AuthenticatedRequest, selection: Selection, name: str
) -> HttpResponse:
    """Render an interactive figure above its table."""
    if name not in FIGURES:
        raise Http404(f"There is no figure “{name}” here. There are: {', '.join(FIGURES)}.")
    report, judged = requested_report(request, selection)
    explore = FIGURES[name](report, judged, request.GET)
    return render_figure(request, selection.dataset, explore, selection=selection)


@of_selection
def agreement_file(request: AuthenticatedRequest, selection: Selection) -> HttpResponse:
    """Return the page as one JSON object, the one that `manage.py agreement --json` prints."""
    report, _ = requested_report(request, selection)
    return json_file(f"{selection.dataset.slug}-agreement", as_json(report))


@require_safe
@researchers_only
def agreement_with(request: AuthenticatedRequest, slug: str, rater_id: int) -> HttpResponse:
    """Render a summary of a judge for htmx, or redirect to the agreement page with this judge."""
    dataset = get_object_or_404(Dataset, slug=slug)
    rater = get_object_or_404(Rater, pk=rater_id)
    if rater.dataset_id not in (None, dataset.pk) or rater.kind not in (
        Rater.Kind.MODEL,
        Rater.Kind.BASELINE,
    ):
        raise Http404(f"{rater} is no judge of {dataset.slug}.")
    comparisons = compare_with_people(dataset, rater.pk)
    response: HttpResponse
    if request.htmx:
        response = render(
            request, "evaluation/agreement/agreement_with.html", {"comparisons": comparisons}
        )
    else:
        # A comparison on one scale has more statistics than one at eta.
        best = sorted(comparisons, key=lambda with_judge: not with_judge.selection.one_scale)
        query = f"?{best[0].selection.query()}#judge" if best else ""
        response = redirect(reverse("agreement", args=[dataset.slug]) + query)
    patch_vary_headers(response, ["HX-Request"])
    return response
