"""The agreement page: how far the raters of a dataset agree, and a judge with them."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.agreement_page.coverage import ReportRow
from evaluation.agreement_page.judge import AgainstJudge
from evaluation.agreement_page.parts import Part
from evaluation.agreement_page.report import AgreementReport, agreement_report
from evaluation.agreement_page.shortened import shortened
from evaluation.agreement_page.sweep_chart import sweep_charts
from evaluation.charts import axis_of, confusion_rows, coverage_panels
from evaluation.selection import Selection, SelectionError, select
from evaluation.versions import cached


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
    panels = coverage_panels(report)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "selection": selection,
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
        "panels": panels,
        "is_thinned": any(panel.is_thinned for panel in panels),
        "pair_axis": axis_of(*(pair.kappa for pair in report.pairs)),
        "part_axis": axis_of(*(part.kappa for part in (*report.systems, *report.topics))),
        "judged": judged,
        # What links to the pairs of one rater: the same selection, with that rater alone.
        "held": replace(
            selection,
            raters=tuple(r for r in selection.raters if r.name == truth) or selection.raters,
        ),
        "truth": truth,
        "confusion": confusion_rows(judged, selection.eta if selection.one_scale else 1)
        if judged
        else [],
        "sweeps": sweep_charts(judged.sweep) if judged else [],
    }
    return render(request, "evaluation/agreement.html", context)


def reported(
    request: AuthenticatedRequest, dataset: Dataset
) -> tuple[AgreementReport, AgainstJudge | None]:
    """The report of the selection in the URL, and the judge against whom it asks for in `truth`.

    Raises SelectionError where the URL asks for what is not there.
    """
    selection = asked_for(request, dataset)
    key = (
        "agreement",
        selection.rubric.pk,
        selection.raters,
        selection.judge,
        selection.judge_rubric.pk,
        selection.eta,
    )
    found = cached(dataset, key, lambda: agreement_report(selection))
    # What is kept may name choices that have changed since; this selection was just read.
    report = replace(found, selection=selection)
    return report, report.judged(request.GET.get("truth", ""))


def asked_for(request: AuthenticatedRequest, dataset: Dataset) -> Selection:
    """The selection in the URL. Raises SelectionError where it asks for what is not there."""
    words = request.GET
    return select(
        dataset,
        rubric=words.get("rubric"),
        raters=words.getlist("raters"),
        judge=words.get("judge"),
        eta=words.get("eta"),
        judge_by_default=True,
    )


def refusal(
    request: AuthenticatedRequest, dataset: Dataset, why: str, status: int = 400
) -> HttpResponse:
    """The page for choices that the dataset does not offer: it says which there are."""
    is_page = request.path.endswith("/") and request.META.get("QUERY_STRING")
    back = request.path if is_page else dataset.get_absolute_url()
    context = {"room": "datasets", "dataset": dataset, "why": why, "back": back}
    return render(request, "evaluation/refusal.html", context, status=status)


def _kappa(part: Part) -> float | None:
    return part.kappa.value


def _judge_kappa(part: AgainstJudge) -> float | None:
    return part.cohen_binary.value


def _mean_coverage(row: ReportRow) -> float | None:
    values = [found.value for found in row.coverage if found.value is not None]
    return sum(values) / len(values) if values else None
