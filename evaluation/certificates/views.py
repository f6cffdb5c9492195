"""Views of certificates: the list of judges, a judge under a rubric, and files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rater, Rubric
from evaluation.certificates.assessment import RefusedError
from evaluation.certificates.page import CertificatePage, count_tested, judge_rows, judges_of
from evaluation.certificates.tables import TABLES, certificate_as_json
from evaluation.certificates.testing import LIMITS, JudgeTest, judge_test
from evaluation.data.certificates import CertificateState, certificate_state
from evaluation.data.columns import Column
from evaluation.data.selection import Selection, SelectionError, select
from evaluation.http import json_file, selection_error_page, table_called
from evaluation.result_tables import table_file


@require_safe
@researchers_only
def certificates(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """List the judges of each rubric with the state of their certificates."""
    dataset = get_object_or_404(Dataset, slug=slug)
    context = {"room": "datasets", "dataset": dataset, "rows": list(judge_rows(dataset))}
    return render(request, "evaluation/certificates/certificates.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def certificate(request: AuthenticatedRequest, slug: str, rubric: str, judge: int) -> HttpResponse:
    """Show the newest certificate of a judge; on POST test it, and store the result."""
    dataset = get_object_or_404(Dataset, slug=slug)
    selection = select(dataset, rubric=get_object_or_404(Rubric, slug=rubric).slug)
    column = next((column for column in judges_of(selection) if column.pk == judge), None)
    if column is None:
        raise Http404("No judge of this number has grades under this rubric.")
    if column not in selection.judges:
        return _page_without_people(request, selection, column)
    try:
        test = _test(selection, column, request.POST)
    except (SelectionError, RefusedError) as error:
        return selection_error_page(request, dataset, str(error))
    if request.method == "POST":
        try:
            test.store(request.user)
        except RefusedError as refused:
            messages.error(request, f"Not tested. {refused}")
        return redirect("certificate", slug, rubric, judge)
    state = certificate_state(dataset, judge, test.selection.rubric.pk)
    n_pairs, n_topics, refusal = count_tested(test)
    people = [rater for rater in selection.everyone if rater.is_person and not rater.is_adjudicator]
    context = _context(test.selection, column) | {
        "test": test,
        "people": people,
        "state": state,
        "page": CertificatePage(state.certificate, state) if state.certificate else None,
        "n_pairs": n_pairs,
        "n_topics": n_topics,
        "refusal": refusal,
    }
    return render(request, "evaluation/certificates/certificate.html", context)


@require_safe
@researchers_only
def certificate_json(
    request: AuthenticatedRequest, slug: str, rubric: str, judge: int
) -> HttpResponse:
    """Return the newest certificate of a judge as a JSON file."""
    state = _state(slug, rubric, judge)
    return json_file(f"{slug}-certificate-{rubric}-{judge}", certificate_as_json(state))


@require_safe
@researchers_only
def certificate_table(
    request: HttpRequest, slug: str, rubric: str, judge: int, table: str, file_format: str
) -> HttpResponse:
    """Return a table of the newest certificate of a judge as a file."""
    state = _state(slug, rubric, judge)
    assert state.certificate is not None
    name = state.certificate.judge.name
    return table_file(
        request,
        file_format,
        table_called(table, TABLES)(state.certificate),
        name=f"{slug}-certificate-{rubric}-{judge}-{table}",
        caption=f"Test of the judge {name} under {rubric}: {table}. Certificate: {state}",
    )


def _page_without_people(
    request: AuthenticatedRequest, selection: Selection, judge: Column
) -> HttpResponse:
    """Show the page of a judge whose pairs no person has graded."""
    refusal = (
        f"No person has graded a pair that {judge.title} graded under {selection.rubric.title}."
    )
    if request.method == "POST":
        messages.error(request, f"Not tested. {refusal}")
        return redirect("certificate", selection.dataset.slug, selection.rubric.slug, judge.pk)
    state = certificate_state(selection.dataset, judge.pk, selection.rubric.pk)
    page = CertificatePage(state.certificate, state) if state.certificate else None
    context = _context(selection, judge) | {"state": state, "page": page, "refusal": refusal}
    return render(request, "evaluation/certificates/certificate.html", context)


def _context(selection: Selection, judge: Column) -> dict[str, Any]:
    return {
        "room": "datasets",
        "dataset": selection.dataset,
        "rubric": selection.rubric,
        "judge": judge,
        "selection": selection,
        "judge_number": Rater.objects.values_list("judge__pk", flat=True).get(pk=judge.pk),
        "pairs_query": urlencode(
            {"of": "certificate", "rubric": selection.rubric.slug, "judge": str(judge.pk)}
        ),
    }


def _test(selection: Selection, judge: Column, params: QueryDict) -> JudgeTest:
    """Return the test with these parameters. Raises SelectionError, RefusedError."""
    numbers: dict[str, Any] = {name: params.get(name) for name in LIMITS}
    return judge_test(
        selection.dataset,
        rubric=selection.rubric.slug,
        judge=judge.name,
        people=params.getlist("people"),
        eta=params.get("eta") or None,
        numbers=numbers,
    )


def _state(slug: str, rubric: str, judge: int) -> CertificateState:
    dataset = get_object_or_404(Dataset, slug=slug)
    pk = get_object_or_404(Rubric, slug=rubric).pk
    state = certificate_state(dataset, judge, pk)
    if state.certificate is None:
        raise Http404("This judge was not tested under this rubric.")
    return state
