"""Tests of a judge: results on a dataset, start of a test, and the replies that differ."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Role
from crux_site.judge_tests.forms import JudgeTestForm
from crux_site.judge_tests.page import (
    JudgeTestsPage,
    changed_replies,
    result_of,
    runs_of_tests,
)
from evaluation.http import json_file
from evaluation.result_tables import csv_response, table_file
from judging.engine.budget import prices_of
from judging.engine.judge_tests import (
    JudgeTestError,
    JudgeTestEstimate,
    estimate_test,
    start_test,
)
from judging.engine.progress import by_dataset
from judging.execution.states import RunStateError
from judging.forms import focus
from judging.models import Judge, JudgeRun
from judging.models.endpoint import budget_of
from judging.tasks import JUDGING

PER_PAGE = 50
HEADER = ("topic", "text", "system", "question", "repeat", "grade", "new_grade", "reply")


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def judge_tests(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Show the tests of a judge on a dataset. POST: estimate a test, or start it."""
    judge = _judge(request, pk)
    datasets = [dataset for dataset, _ in by_dataset(judge, request.user)]
    dataset = _dataset(request, judge, datasets)
    context: dict[str, Any] = {"judge": judge, "datasets": datasets, "dataset": dataset}
    context["room"] = "judges"
    if dataset is None:
        return render(request, "crux_site/judge_tests/judge_tests.html", context)
    may_start = dataset.project.allows(request.user, Role.OWNER)
    form = None
    if may_start:
        form = JudgeTestForm(request.POST or None, judge=judge, dataset=dataset, user=request.user)
    elif request.method == "POST":
        raise PermissionDenied(
            f"Tests of judges are started by owners of {dataset.project}, and by admins of the site."
        )
    counted = None
    if form and form.is_valid():
        try:
            if "start" in request.POST:
                return redirect(_started(request, form, judge, dataset))
            counted = _estimate(form, judge, dataset)
        except (JudgeTestError, RunStateError) as error:
            form.add_error(None, str(error))
    if form and form.is_bound:
        focus(form)
    context |= {
        "tests": JudgeTestsPage(judge, dataset, request.user),
        "form": form,
        "counted": counted,
        "exhausted": budget_of(dataset.project).exhausted(),
    }
    status = 422 if form and form.is_bound and form.errors else 200
    return render(request, "crux_site/judge_tests/judge_tests.html", context, status=status)


def _judge(request: AuthenticatedRequest, pk: int) -> Judge:
    judges = Judge.objects.visible_to(request.user).select_related("rater", "rubric")
    return get_object_or_404(judges, pk=pk)


def _dataset(
    request: AuthenticatedRequest, judge: Judge, datasets: list[Dataset]
) -> Dataset | None:
    """Return the dataset in the URL, or the one of the judge's newest run; None without any.

    404 for a dataset that the user does not see.
    """
    slug = request.POST.get("dataset") or request.GET.get("dataset", "")
    visible = Dataset.objects.visible_to(request.user).select_related("project")
    if slug:
        return get_object_or_404(visible, slug=slug.replace("\x00", ""))
    keys = [dataset.pk for dataset in datasets]
    newest = JudgeRun.objects.filter(judge=judge, dataset__in=keys).first()
    return visible.get(pk=newest.dataset_id) if newest else None


def _estimate(form: JudgeTestForm, judge: Judge, dataset: Dataset) -> JudgeTestEstimate:
    prices = prices_of(form.cleaned_data["endpoint"])
    return estimate_test(judge, dataset, form.request(), prices)


@transaction.atomic
def _started(
    request: AuthenticatedRequest, form: JudgeTestForm, judge: Judge, dataset: Dataset
) -> JudgeRun:
    endpoint = form.cleaned_data["endpoint"]
    run = start_test(judge, dataset, form.request(), created_by=request.user, endpoint=endpoint)
    transaction.on_commit(lambda: JUDGING.wake(run))
    return run


@require_safe
@researchers_only
def judge_tests_table_file(
    request: AuthenticatedRequest, pk: int, file_format: str
) -> HttpResponse:
    """Send the measures of all tests of a judge on a dataset as a file."""
    tests = _tests(request, pk)
    return table_file(
        request,
        file_format,
        tests.table(),
        name=f"{tests.dataset.slug}-{tests.judge.slug}-tests",
        caption=f"Tests of {tests.judge.slug} on {tests.dataset.title}",
    )


@require_safe
@researchers_only
def judge_tests_json(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Send all tests of a judge on a dataset as one JSON object."""
    tests = _tests(request, pk)
    return json_file(f"{tests.dataset.slug}-{tests.judge.slug}-tests", tests.as_json())


def _tests(request: AuthenticatedRequest, pk: int) -> JudgeTestsPage:
    judge = _judge(request, pk)
    visible = Dataset.objects.visible_to(request.user)
    slug = request.GET.get("dataset", "").replace("\x00", "")
    return JudgeTestsPage(judge, get_object_or_404(visible, slug=slug), request.user)


@require_safe
@researchers_only
def judge_test(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Show the result of one test, with the replies whose grade differs."""
    run = _test_run(request, pk)
    page = Paginator(changed_replies(run), PER_PAGE).get_page(request.GET.get("page"))
    names = run.judge.rubric.names()
    context = {
        "run": run,
        "judge": run.judge,
        "dataset": run.dataset,
        "result": result_of(run),
        "page": page,
        "replies": [
            (reply, names.get(reply.attempt.grade or 0, ""), names.get(reply.grade or 0, ""))
            for reply in page
        ],
        "room": "judges",
    }
    return render(request, "crux_site/judge_tests/judge_test.html", context)


@require_safe
@researchers_only
def judge_test_replies(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Send the replies of a test whose grade differs as CSV."""
    run = _test_run(request, pk)
    rows = (
        [
            *(reply.question.topic.name, reply.text.name, reply.text.system),
            *(reply.question.number, reply.repeat, reply.attempt.grade, reply.grade, reply.raw),
        ]
        for reply in changed_replies(run).iterator(chunk_size=PER_PAGE)
    )
    return csv_response(f"judge-run-{run.pk}-changed", HEADER, rows)


def _test_run(request: AuthenticatedRequest, pk: int) -> JudgeRun:
    return get_object_or_404(runs_of_tests(request.user), pk=pk)
