"""The agreement page: how far the raters of a dataset agree, and a judge with them."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.agreement_report import agreement_report
from evaluation.charts import axis_of, confusion_rows, coverage_panels
from evaluation.selection import Selection, SelectionError, select


@require_safe
@researchers_only
def agreement(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        selection = asked_for(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    report = agreement_report(selection)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "selection": selection,
        "report": report,
        "spread": sorted(
            (part for part in report.systems if part.kappa.value is not None),
            key=lambda part: part.kappa.value or 0.0,
        ),
        "topics": sorted(
            report.topics,
            key=lambda part: (part.kappa.value is None, -(part.kappa.value or 0.0)),
        ),
        "columns": [*selection.raters, *([selection.judge] if selection.judge else [])],
        "panels": coverage_panels(report),
        "pair_axis": axis_of(*(pair.kappa for pair in report.pairs)),
        "part_axis": axis_of(*(part.kappa for part in (*report.systems, *report.topics))),
        "confusion": confusion_rows(report.judge, selection.eta if selection.one_scale else 1)
        if report.judge
        else [],
        "judged_by_system": len(report.judge_by_system) > 1,
    }
    return render(request, "evaluation/agreement.html", context)


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


def refusal(request: AuthenticatedRequest, dataset: Dataset, why: str) -> HttpResponse:
    """The page for choices that the dataset does not offer: it says which there are."""
    context = {"room": "datasets", "dataset": dataset, "why": why}
    return render(request, "evaluation/refusal.html", context, status=400)
