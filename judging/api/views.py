"""Judges to read; judge runs to read, start, pause, cancel and resume."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django_filters.rest_framework import ChoiceFilter, FilterSet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import IsAdminOrReadOnly
from annotation.api.endpoint import Endpoint, Listing
from annotation.api.errors import Problem, RequestError
from annotation.api.filters import name_filter
from annotation.models import Dataset, User
from judging.api.bodies import BudgetBody, JudgeTestBody, ServedBody, StartBody
from judging.api.rows import JudgeRow, JudgeRunRow, OneRunRow
from judging.engine import runs
from judging.engine.endpoints import choices_for
from judging.engine.judge_tests import start_test
from judging.engine.judges import BASELINES, baseline_of, find_judge
from judging.execution import states
from judging.models import Judge, JudgeRun
from judging.tasks import JUDGING


class RunFilters(FilterSet):
    dataset = name_filter("The slug of a dataset.", field_name="dataset__slug")
    judge = name_filter("The name of a judge.", field_name="judge__rater__name")
    state = ChoiceFilter(choices=JudgeRun.State.choices)


def _judges(user: User) -> QuerySet[Judge]:
    return Judge.objects.visible_to(user).select_related("rater__dataset", "rubric").order_by("pk")


def _runs(user: User) -> QuerySet[JudgeRun]:
    return (
        JudgeRun.objects.visible_to(user).select_related("judge__rater", "dataset").order_by("-pk")
    )


class Judges(Listing):
    """All judges with all that shapes their replies."""

    summary = "All judges"
    tag = "Judges"
    serializer_class = JudgeRow
    queryset = Judge.objects.none()

    def get_queryset(self) -> QuerySet[Judge]:
        return _judges(self.user)


class OneJudge(Endpoint, generics.RetrieveAPIView):
    """A judge by its fingerprint: what has the same fingerprint is the same judge."""

    summary = "One judge"
    tag = "Judges"
    serializer_class = JudgeRow

    def get_object(self) -> Judge:
        judge = _judges(self.user).filter(fingerprint=self.kwargs["fingerprint"]).first()
        if judge is None:
            raise NotFound("There is no judge of this fingerprint.")
        return judge


class JudgeRuns(Listing):
    tag = "Judge runs"
    permission_classes = [IsAdminOrReadOnly]
    filterset_class = RunFilters
    serializer_class = JudgeRunRow
    queryset = JudgeRun.objects.none()

    @extend_schema(summary="All judge runs", description="The newest first.")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        summary="Start a judge run",
        description="Background workers plan it and fill the cells that the judge lacks. One run "
        "of a judge on a dataset is open at a time (409).",
        request=StartBody,
        responses={201: OneRunRow},
        examples=[
            OpenApiExample(
                "The baseline",
                request_only=True,
                value={"judge": "lexical", "dataset": "coastal-demo", "texts": "passages"},
            )
        ],
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        start = StartBody(data=request.data)
        start.is_valid(raise_exception=True)
        dataset = _dataset_of(start)
        with transaction.atomic():  # the baseline that is made here goes with what is refused
            run = self._started(dataset, start)
        JUDGING.wake(run)
        return Response(OneRunRow(run).data, status=status.HTTP_201_CREATED)

    def _started(self, dataset: Dataset, start: StartBody) -> JudgeRun:
        start.selection.check(dataset)
        name = start.validated_data["judge"]
        is_baseline = name in BASELINES
        judge = baseline_of(dataset, name)[0] if is_baseline else _judge_of(start, dataset)
        start.check_endpoint(judge, [name for name, _ in choices_for(self.user, dataset.project)])
        by = self.request.user if isinstance(self.request.user, User) else None
        return runs.start(judge, dataset, start.selection, created_by=by, **start.options)

    def get_queryset(self) -> QuerySet[JudgeRun]:
        return _runs(self.user)


def _dataset_of(body: ServedBody) -> Dataset:
    slug = body.validated_data["dataset"]
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        raise _refused("dataset", f"there is no dataset called {slug}")
    return dataset


def _judge_of(body: ServedBody, dataset: Dataset) -> Judge:
    name = body.validated_data["judge"]
    judge = find_judge(name, dataset)
    if judge is None:
        raise _refused("judge", f"no judge called {name} judges {dataset.slug}")
    return judge


def _refused(field: str, message: str) -> RequestError:
    return RequestError([Problem(None, field, message)])


class JudgeTests(Endpoint, generics.GenericAPIView):
    """Start a test of a judge: pairs that it has graded are sent again.

    Its run is among the judge runs, and its replies never become ratings. One run of a test of a judge on a
    dataset is open at a time (409).
    """

    summary = "Start a test of a judge"
    tag = "Judge runs"
    permission_classes = [IsAdminOrReadOnly]
    serializer_class = OneRunRow

    @extend_schema(request=JudgeTestBody, responses={201: OneRunRow})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        body = JudgeTestBody(data=request.data)
        body.is_valid(raise_exception=True)
        dataset = _dataset_of(body)
        judge = _judge_of(body, dataset)
        if judge.prompt:  # a baseline is refused for another reason than its server
            endpoints = choices_for(self.user, dataset.project)
            body.check_endpoint(judge, [name for name, _ in endpoints])
        run = start_test(judge, dataset, body.test_request, created_by=self.user, **body.options)
        JUDGING.wake(run)
        return Response(OneRunRow(run).data, status=status.HTTP_201_CREATED)


class OfRun(Endpoint, generics.GenericAPIView):
    tag = "Judge runs"
    permission_classes = [IsAdminOrReadOnly]
    serializer_class = OneRunRow

    def get_object(self) -> JudgeRun:
        pk = self.kwargs["id"]
        run = _runs(self.user).filter(pk=pk).first()
        if run is None:
            raise NotFound(f"There is no judge run {pk}.")
        return run

    def step(self, run: JudgeRun, request: Request) -> None:
        """Change the state of the run on POST. Raises RunStateError."""
        raise NotImplementedError

    def stepped(self, request: Request) -> Response:
        run = self.get_object()
        self.step(run, request)
        return Response(self.get_serializer(run).data)


class OneRun(OfRun):
    """A judge run with its selection, state, counts of pairs, and rate."""

    summary = "One judge run, and how far it is"

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        run = self.get_object()
        JUDGING.revive(run)
        return Response(self.get_serializer(run).data)


class Pause(OfRun):
    """No worker takes another pair; what is in flight is finished."""

    summary = "Pause a judge run"

    @extend_schema(request=None, responses=OneRunRow)
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.stepped(request)

    def step(self, run: JudgeRun, request: Request) -> None:
        states.pause(run)


class Cancel(OfRun):
    """End a run. Every grade so far stays, and it can still be resumed."""

    summary = "Cancel a judge run"

    @extend_schema(request=None, responses=OneRunRow)
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.stepped(request)

    def step(self, run: JudgeRun, request: Request) -> None:
        states.cancel(run)


class Resume(OfRun):
    """Resume a run that was paused, cancelled or stopped at its budget.

    A new budget may be given.
    """

    summary = "Resume a judge run"

    @extend_schema(request=BudgetBody, responses=OneRunRow)
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.stepped(request)

    def step(self, run: JudgeRun, request: Request) -> None:
        budget = BudgetBody(data=request.data)
        budget.is_valid(raise_exception=True)
        runs.resume(run, **budget.limits)
        JUDGING.wake(run)
