"""What the agreement page and the list of pairs show, as files."""

from __future__ import annotations

import json

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.agreement_page.as_json import as_json
from evaluation.agreement_page.tables import TABLES, agreement_table
from evaluation.csv_tables import csv_response
from evaluation.pairs_page.file import pair_lines
from evaluation.pairs_page.pair_list import pair_list
from evaluation.selection import SelectionError, one_of
from evaluation.views.agreement import asked_for, refusal, reported


@require_safe
@researchers_only
def agreement_csv(request: AuthenticatedRequest, slug: str, table: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        one_of("table of the agreement page called", table, TABLES)
    except SelectionError as error:
        return refusal(request, dataset, str(error), status=404)
    try:
        found = agreement_table(table, *reported(request, dataset))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return csv_response(f"{slug}-agreement-{table}", found.header, found.rows)


@require_safe
@researchers_only
def agreement_file(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The page as one JSON object, the one that `manage.py agreement --json` prints."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        report, _ = reported(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return HttpResponse(
        json.dumps(as_json(report), indent=2, ensure_ascii=False),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{slug}-agreement.json"'},
    )


@require_safe
@researchers_only
def pairs_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse | StreamingHttpResponse:
    """All pairs of the list, not those of one page; sent as they are read."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        found = pair_list(asked_for(request, dataset), request.GET.dict())
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return StreamingHttpResponse(
        pair_lines(found, request.build_absolute_uri("/").rstrip("/")),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{slug}-pairs.csv"'},
    )
