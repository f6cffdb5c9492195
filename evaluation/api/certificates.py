"""API of certificates: states of judges, one certificate, and the test of a judge."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import IsAdminOrReadOnly
from annotation.api.bodies import StrictBody, StrictFloat, StrictString
from annotation.api.endpoint import Listing
from annotation.api.errors import Problem, RequestError
from annotation.api.views import DatasetEndpoint
from annotation.models import Dataset
from evaluation.certificates.assessment import RefusedError
from evaluation.certificates.page import JudgeRow, judge_rows
from evaluation.certificates.tables import certificate_as_json
from evaluation.certificates.testing import LIMITS, judge_test
from evaluation.data.certificates import state_of
from evaluation.data.selection import SelectionError

NAME = r"^[^\x00]*[^\s\x00][^\x00]*\Z"


class CertificateRow(serializers.Serializer):
    """State of a judge under a rubric of people, with the numbers of its newest test."""

    judge = serializers.CharField(source="judge.name")
    rubric = serializers.CharField(source="rubric.slug")
    state = serializers.CharField(
        source="state.kind", help_text="holds, not shown, void, or not tested."
    )
    void_because = serializers.CharField(source="state.reason", allow_blank=True)
    tested = serializers.SerializerMethodField(help_text="Time of the newest test.")
    epsilon = serializers.SerializerMethodField()
    winning_rate = serializers.SerializerMethodField()
    advantage = serializers.SerializerMethodField()
    n_pairs = serializers.SerializerMethodField()
    n_topics = serializers.SerializerMethodField()

    def get_tested(self, row: JudgeRow) -> datetime | None:
        certificate = row.state.certificate
        return timezone.localtime(certificate.created) if certificate else None

    def get_epsilon(self, row: JudgeRow) -> float | None:
        certificate = row.state.certificate
        return certificate.parameters["epsilon"] if certificate else None

    def get_winning_rate(self, row: JudgeRow) -> float | None:
        return _number(row, "winning_rate")

    def get_advantage(self, row: JudgeRow) -> float | None:
        return _number(row, "advantage")

    def get_n_pairs(self, row: JudgeRow) -> int | None:
        return _number(row, "n_pairs")

    def get_n_topics(self, row: JudgeRow) -> int | None:
        return _number(row, "n_topics")


def _number(row: JudgeRow, name: str) -> Any:
    return row.state.certificate.result[name] if row.state.certificate else None


class CertificateContent(serializers.Serializer):
    """A certificate with its state, parameters and result, as in its JSON file."""

    dataset = serializers.CharField()
    rubric = serializers.CharField()
    judge = serializers.CharField()
    fingerprint = serializers.CharField(allow_blank=True)
    state = serializers.CharField()
    void_because = serializers.CharField(allow_blank=True)
    n_grades_added_since = serializers.IntegerField()
    decision = serializers.CharField()
    tested = serializers.DateTimeField()
    parameters = serializers.DictField()
    parameters_chosen_after_a_result = serializers.BooleanField()
    data_sha256 = serializers.CharField()
    rubric_sha256 = serializers.CharField()
    result = serializers.DictField()
    methods = serializers.CharField()


class TestBody(StrictBody):
    """The judge to test, the rubric of the people, and the parameters of the test."""

    judge = StrictString(NAME, help_text="The name of a judge.")
    rubric = StrictString(NAME, help_text="The slug of the rubric under which people graded.")
    people = StrictString(
        NAME,
        default=None,
        allow_null=True,
        help_text="Names, separated by commas; by default all people.",
    )
    epsilon = StrictFloat(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=1,
        help_text="How much worse the judge may be than a person; by default 0.15.",
    )
    agreement_margin = StrictFloat(
        default=None, allow_null=True, min_value=0.001, max_value=1, help_text="By default 0.1."
    )
    bias_margin = StrictFloat(
        default=None,
        allow_null=True,
        min_value=0.001,
        max_value=1000,
        help_text="In grades; by default 5 % of their range.",
    )


class Certificates(DatasetEndpoint, Listing):
    """Judges that graded what people graded, each rubric by itself."""

    tag = "Certificates"
    permission_classes = [IsAdminOrReadOnly]
    serializer_class = CertificateRow
    queryset = Dataset.objects.none()

    @extend_schema(summary="The certificates of the judges of a dataset")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    def filter_queryset(self, queryset: Any) -> Any:
        return list(judge_rows(self.dataset))

    @extend_schema(
        summary="Test a judge",
        description="Tests whether the judge may stand in for people. The result is stored, passed or not.",
        request=TestBody,
        responses={201: CertificateContent},
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        body = TestBody(data=request.data)
        body.is_valid(raise_exception=True)
        values = body.validated_data
        try:
            test = judge_test(
                self.dataset,
                rubric=values["rubric"],
                judge=values["judge"],
                people=[values["people"] or ""],
                numbers={name: values[name] for name in LIMITS},
            )
            certificate = test.store(self.user)
        except (RefusedError, SelectionError) as refused:
            raise RequestError([Problem(None, "", str(refused))]) from None
        content = certificate_as_json(state_of(certificate))
        return Response(CertificateContent(content).data, status=status.HTTP_201_CREATED)


class OneCertificate(DatasetEndpoint):
    """The newest certificate of a judge under a rubric."""

    tag = "Certificates"

    @extend_schema(summary="The certificate of a judge", responses={200: CertificateContent})
    def get(self, request: Request, dataset: str, rubric: str, judge: str) -> Response:
        for row in judge_rows(self.dataset):
            if (row.rubric.slug, row.judge.name) == (rubric, judge) and row.state.certificate:
                return Response(CertificateContent(certificate_as_json(row.state)).data)
        raise NotFound(
            f"No judge called {judge!r} was tested under {rubric} in {self.dataset.slug}."
        )
