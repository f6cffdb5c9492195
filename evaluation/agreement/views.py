"""The agreement page: how far the raters of a dataset agree, a judge with them, and the same as files."""

from __future__ import annotations

from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rater
from evaluation.agreement.as_json import as_json
from evaluation.agreement.confusions import sides_of
from evaluation.agreement.coverage_chart import confusion_rows, coverage_panels
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.judges import with_people
from evaluation.agreement.page import AgreementReport, kept_report
from evaluation.agreement.parts import Part
from evaluation.agreement.shortened import Shortened, shortened
from evaluation.agreement.sweep_chart import sweep_charts
from evaluation.agreement.tables import TABLES, agreement_table
from evaluation.charts import axis_of
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError, one_of
from evaluation.http import asked_for, json_file, refusal
from evaluation.scoring.report_coverage import ReportRow


@require_safe
@researchers_only
def agreement(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        report, judged = reported(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    selection = report.selection
    truth = request.GET.get("truth", "")
    everything = request.GET.get("rows") == "all"
    panels = coverage_panels(report, everything=everything)
    asked = {name: request.GET.get(name, "") for name in ("of", "against")}
    try:
        sides = sides_of(report, asked["of"], asked["against"])
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    context = {
        "room": "datasets",
        "dataset": dataset,
        "selection": selection,
        "measures": selection.measures.those,
        "report": report,
        "spread": sorted(
            (part for part in report.systems if part.kappa.value is not None),
            key=lambda part: part.kappa.value or 0.0,
        ),
        "systems": shortened(report.systems, _kappa, everything=everything),
        "topics": shortened(
            sorted(
                report.topics,
                key=lambda part: (part.kappa.value is None, -(part.kappa.value or 0.0)),
            ),
            _kappa,
            everything=everything,
        ),
        "coverages": shortened(report.reports, _mean_coverage, everything=everything),
        "pairs": shortened(report.pairs, lambda pair: pair.kappa.value, everything=everything),
        "raters": shortened(report.raters, lambda row: row.prevalence.value, everything=everything),
        "majority": shortened(report.majority, lambda row: row.kappa.value, everything=everything),
        "correlations": shortened(
            report.correlations, lambda row: row.pearson.value, everything=everything
        ),
        "by_rater": shortened(report.judge_by_rater, _judge_kappa, everything=everything),
        "by_system": shortened(report.judge_by_system, _judge_kappa, everything=everything),
        "slices": Shortened(report.slices, len(report.slices), None),
        "n_unsliced": report.n_items - sum(part.n_items for part in report.slices),
        "composition": shortened(report.graded, lambda row: float(row.n), everything=everything),
        "sides": sides if "matrix" in selection.measures else None,
        "sides_rows": confusion_rows(sides.matrix, selection.levels, None) if sides else [],
        "kept": selection.params(),
        "panels": panels,
        "is_thinned": any(panel.is_thinned for panel in panels.rows),
        "pair_axis": axis_of(*(pair.kappa for pair in report.pairs)),
        "part_axis": axis_of(
            *(part.kappa for part in (*report.systems, *report.topics, *report.slices))
        ),
        "judged": judged,
        # What links to the pairs of one rater: the same selection, with that rater alone.
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


def reported(
    request: AuthenticatedRequest, dataset: Dataset
) -> tuple[AgreementReport, AgainstJudge | None]:
    """The report of the selection in the URL, and the judge against whom it asks for in `truth`.

    Raises SelectionError where the URL asks for what is not there.
    """
    report = kept_report(asked_for(request, dataset))
    return report, report.judged(request.GET.get("truth", ""))


def _kappa(part: Part) -> float | None:
    return part.kappa.value


def _judge_kappa(part: AgainstJudge) -> float | None:
    return part.cohen_binary.value


def _mean_coverage(row: ReportRow) -> float | None:
    values = [share.value for share in row.coverage if share.value is not None]
    return sum(values) / len(values) if values else None


@require_safe
@researchers_only
def agreement_csv(request: AuthenticatedRequest, slug: str, table: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        one_of("table of the agreement page called", table, TABLES)
    except SelectionError as error:
        return refusal(request, dataset, str(error), status=404)
    try:
        content = agreement_table(table, *reported(request, dataset))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return csv_response(f"{slug}-agreement-{table}", content.header, content.rows)


@require_safe
@researchers_only
def agreement_file(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The page as one JSON object, the one that `manage.py agreement --json` prints."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        report, _ = reported(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return json_file(f"{slug}-agreement", as_json(report))


@require_safe
@researchers_only
def agreement_with(request: AuthenticatedRequest, slug: str, rater_id: int) -> HttpResponse:
    """A few lines for htmx; for who follows the link, the agreement page with this judge chosen."""
    dataset = get_object_or_404(Dataset, slug=slug)
    rater = get_object_or_404(Rater, pk=rater_id)
    if rater.dataset_id not in (None, dataset.pk) or rater.kind not in (
        Rater.Kind.MODEL,
        Rater.Kind.BASELINE,
    ):
        raise Http404(f"{rater} is no judge of {dataset.slug}.")
    comparisons = with_people(dataset, rater.pk)
    response: HttpResponse
    if request.htmx:
        response = render(
            request, "evaluation/agreement/agreement_with.html", {"comparisons": comparisons}
        )
    else:
        # Where both grade on one scale there is more to see than where they are read at eta.
        best = sorted(comparisons, key=lambda with_judge: not with_judge.selection.one_scale)
        query = f"?{best[0].selection.query()}#judge" if best else ""
        response = redirect(reverse("agreement", args=[dataset.slug]) + query)
    patch_vary_headers(response, ["HX-Request"])
    return response
