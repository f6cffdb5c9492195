"""Result of a test of a judge over the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import IsResearcher
from annotation.api.endpoint import Endpoint
from annotation.api.errors import ConflictError, Problem, Refusal
from crux_site.judge_tests.page import result_of
from judging.models import JudgeRun


class MeasureRow(serializers.Serializer):
    """Number of a test with its 95% interval over topics, or the reason why there is none."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Replies or pairs that the value is computed from.")
    missing = serializers.IntegerField(help_text="Those without a grade.")
    reason = serializers.CharField(allow_null=True, help_text="Why there is no value or interval.")


class ScoreNoiseRow(serializers.Serializer):
    """Half-widths that the noise of the judge gives the scores of a group of texts."""

    group = serializers.CharField(help_text="A system, or the kind of texts without one.")
    pairs = serializers.IntegerField()
    half_width_of_mean_grade = serializers.FloatField(allow_null=True)
    half_width_of_share_at_eta = serializers.FloatField(allow_null=True)


class JudgeTestRow(serializers.Serializer):
    """Result of a test; of one that has not ended, so far."""

    run = serializers.IntegerField()
    dataset = serializers.CharField()
    judge = serializers.CharField()
    fingerprint = serializers.CharField()
    test = serializers.CharField()
    state = serializers.CharField()
    pairs = serializers.IntegerField()
    repeats = serializers.IntegerField()
    seed = serializers.IntegerField()
    unchanged = serializers.IntegerField(
        help_text="Pairs left out, as the test would not change their prompt."
    )
    replies = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Replies without a grade; no share counts them.")
    measures = serializers.DictField(child=MeasureRow(), help_text="By name.")
    scores = ScoreNoiseRow(many=True)


class JudgeTestResult(Endpoint, generics.GenericAPIView):
    """The shares and differences of a test. 409 for a judge run that is no test."""

    summary = "Result of a test of a judge"
    tag = "Judge runs"
    permission_classes = [IsResearcher]
    serializer_class = JudgeTestRow

    @extend_schema(responses={200: JudgeTestRow, 409: Refusal})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        pk = self.kwargs["id"]
        runs = JudgeRun.objects.visible_to(self.user)
        run = runs.select_related("judge__rater", "judge__rubric", "dataset").filter(pk=pk).first()
        if run is None:
            raise NotFound(f"There is no judge run {pk}.")
        if not run.test:
            raise ConflictError([Problem(None, "", f"{run.display_name} is no test of a judge.")])
        return Response(self.get_serializer(result_of(run).as_json()).data)
