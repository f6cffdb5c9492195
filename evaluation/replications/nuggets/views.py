"""Nuggets: systems by what their reports support, one report nugget by nugget, and files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.http import AuthenticatedRequest
from annotation.models import Text
from evaluation.http import chosen, json_file, table_called
from evaluation.page_tables import SortValue, order_rows, page_query
from evaluation.replications.nuggets.export import TABLES, as_json
from evaluation.replications.nuggets.page import TITLES, nugget_report
from evaluation.replications.nuggets.query import NuggetQuery, nugget_query
from evaluation.replications.nuggets.report import report_page
from evaluation.replications.nuggets.scores import LEVELS, ReportScore
from evaluation.result_tables import table_file

PER_PAGE = 100

REMEDY = "Import or collect assignments of the nuggets, or choose another rubric above."


def _score(name: str, row: ReportScore) -> float | None:
    return row.scores[name].value


def _assignments(name: str, row: ReportScore) -> int:
    return row.assignment[name]


REPORT_VALUES: dict[str, Callable[[ReportScore], SortValue]] = {
    "report": lambda row: row.name,
    "system": lambda row: row.system,
    **{name: partial(_score, name) for name in TITLES},
    **{name: partial(_assignments, name) for name in (*LEVELS.values(), "missing")},
}
"""Values by which the reports are sorted, by column."""

# Readers by a shared link see this dataset and no other of the project.
of_nuggets = chosen(nugget_query, for_visitor=partial(nugget_query, only_own=True))


@of_nuggets
def nuggets(request: AuthenticatedRequest, choice: NuggetQuery) -> HttpResponse:
    report = nugget_report(choice)
    reports, order = order_rows(request.GET, "reports", report.reports, REPORT_VALUES)
    context = _context(choice) | {
        "report": report,
        "page": Paginator(reports, PER_PAGE).get_page(request.GET.get("page")),
        "reports_order": order,
        "query": page_query(choice.query(), request.GET),
        "remedy": REMEDY,
    }
    return render(request, "evaluation/replications/nuggets/nuggets.html", context)


@of_nuggets
def nuggets_report(request: AuthenticatedRequest, choice: NuggetQuery, pk: int) -> HttpResponse:
    """Show one report: each nugget of its topic with its weight and assignment."""
    reports = Text.objects.select_related("topic").exclude(topic=None)
    text = get_object_or_404(reports, pk=pk, dataset=choice.dataset, kind=Text.Kind.REPORT)
    context = _context(choice) | {"page": report_page(choice, text)}
    return render(request, "evaluation/replications/nuggets/report.html", context)


@of_nuggets
def nuggets_table_file(
    request: AuthenticatedRequest, choice: NuggetQuery, table: str, file_format: str
) -> HttpResponse:
    return table_file(
        request,
        file_format,
        table_called(table, TABLES)(nugget_report(choice)),
        name=f"{choice.dataset.slug}-nuggets-{table}",
        caption=f"Nuggets in {choice.dataset.title}: {table}",
    )


@of_nuggets
def nuggets_json(request: AuthenticatedRequest, choice: NuggetQuery) -> HttpResponse:
    """All of the page as one object."""
    content = as_json(choice, nugget_report(choice))
    return json_file(f"{choice.dataset.slug}-nuggets", content)


def _context(choice: NuggetQuery) -> dict[str, object]:
    return {"room": "datasets", "dataset": choice.dataset, "choice": choice, "titles": TITLES}
