"""API of the numbers of the agreement page and of the retrieval pages, as one long table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from django import forms
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.bodies import StrictString
from annotation.api.endpoint import Listing
from annotation.api.paging import NumberedPagination, Page
from annotation.api.views import DatasetEndpoint
from annotation.models import Dataset
from evaluation.agreement.numbers import SCOPES as AGREEMENT
from evaluation.agreement.numbers import numbers as agreement_numbers
from evaluation.agreement.report import cached_report
from evaluation.data.certificates import certificates_in_words
from evaluation.data.query import OneOf
from evaluation.data.selection import Exposed, SelectionError, select
from evaluation.result_tables import Number
from evaluation.retrieval.leaderboard import leaderboard
from evaluation.retrieval.numbers import SCOPES as SCORES
from evaluation.retrieval.numbers import numbers as score_numbers
from evaluation.scoring.options import ScoringQuery
from evaluation.stats.majority import Rule

USUAL, LARGEST = 1000, 10_000  # numbers to a page: a line is short
NO_BLANK = r"^[^\x00]*[^\s\x00][^\x00]*\Z"


class NumberRow(serializers.Serializer):
    """A statistic with interval, n and missing, or the reason why it is undefined; or a count."""

    scope = serializers.CharField(help_text="What kind of thing it is of: all, system, topic, ...")
    name = serializers.CharField(
        allow_blank=True, help_text="Of what; several names are joined by commas."
    )
    measure = serializers.CharField()
    value = serializers.FloatField(allow_null=True, help_text="null: undefined; `reason` says why.")
    low = serializers.FloatField(allow_null=True, help_text="The 95% interval, from.")
    high = serializers.FloatField(allow_null=True, help_text="To.")
    n = serializers.IntegerField(
        allow_null=True, help_text="What it is computed from; null of a count."
    )
    missing = serializers.IntegerField(allow_null=True, help_text="What was left out.")
    reason = serializers.CharField(
        allow_null=True, help_text="Why there is no value, or no interval."
    )


class NumberPage(Page):
    """Page size of a list of numbers."""

    limit = serializers.IntegerField(
        min_value=1, max_value=LARGEST, default=USUAL, help_text="How many to a page."
    )


def _name(help_text: str) -> StrictString:
    return StrictString(NO_BLANK, required=False, help_text=help_text)


class AgreementQuery(NumberPage):
    """Selection of the agreement page, by the same names."""

    scope = serializers.ChoiceField(
        ["all", *AGREEMENT, "coverage", "mean_coverage"],
        required=False,
        help_text="Numbers of one kind of thing alone.",
    )
    rubric = _name("The slug of a rubric; by default the one that the page takes.")
    campaign = _name("The slug of a campaign, whose ratings alone are compared.")
    raters = _name("Names of raters, separated by commas; by default all people.")
    judge = StrictString(
        r"^[^\x00]*\Z",
        required=False,
        allow_blank=True,
        help_text="The name of a judge; empty: none; by default the one that the page takes.",
    )
    eta = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=32767,
        help_text="The grade at or above which a pair counts as answerable.",
    )
    majority = serializers.ChoiceField(
        get_args(Rule), required=False, help_text="What a majority of raters is."
    )
    exposed = serializers.ChoiceField(
        get_args(Exposed),
        required=False,
        help_text="Grades that people gave after they had seen grades of others or decisions.",
    )
    by = _name("RUBRIC:RATER, whose grades the pairs are sliced by.")


class ScoresQuery(NumberPage):
    """Options of the retrieval pages, by the same names: the fields of their form."""

    scope = serializers.ChoiceField(
        SCORES, required=False, help_text="Means of one kind of system, or all topics, alone."
    )

    def get_fields(self) -> dict[str, Any]:
        options = {name: _parameter(field) for name, field in ScoringQuery.base_fields.items()}
        return {**super().get_fields(), **options}


def _parameter(field: forms.Field) -> serializers.Field:
    """Return a serializer field for a form field.

    It has the field's choices where these are the same for all datasets.
    """
    help_text = str(field.help_text)
    if isinstance(field, OneOf) and field.choices:
        choices = [str(choice) for choice in field.choices]
        return serializers.ChoiceField(choices, required=False, help_text=help_text)
    return _name(help_text)


class OfSelection(NumberedPagination):
    """Numbered pages with the selection that their numbers are of."""

    page_size = USUAL
    max_page_size = LARGEST

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        self.selection, self.certificates = view.selection, view.certificates
        return super().paginate_queryset(queryset, request, view)

    def get_paginated_response(self, data: Sequence[Any]) -> Response:
        response = super().get_paginated_response(data)
        head = {"selection": self.selection, "certificates": self.certificates}
        return Response({**head, **response.data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        page = super().get_paginated_response_schema(schema)
        page["required"] = ["selection", "certificates", *page["required"]]
        page["properties"]["certificates"] = {
            "type": "string",
            "description": "The judge of these numbers with the state of its certificate; empty: no judge.",
        }
        page["properties"]["selection"] = {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "What was chosen, also by default: the parameters that give these numbers.",
        }
        return page


class Numbers(DatasetEndpoint, Listing):
    """Numbers of a page of results, a line each."""

    tag = "Results"
    serializer_class = NumberRow
    pagination_class = OfSelection
    queryset = Dataset.objects.none()
    selection: dict[str, str]
    certificates: str

    def numbers(self) -> Iterable[Number]:
        """Return all numbers, and set `selection` and `certificates`.

        Raises SelectionError for a choice that does not exist.
        """
        raise NotImplementedError

    def filter_queryset(self, queryset: Any) -> Any:
        scope = self.query.get("scope")
        try:
            return [number for number in self.numbers() if scope in (None, number.scope)]
        except SelectionError as error:
            raise NotFound(str(error)) from None


class Agreement(Numbers):
    """All numbers of the agreement page, one a line, as in `agreement/numbers.csv`."""

    summary = "How far the raters of a dataset agree"
    asks = AgreementQuery

    def numbers(self) -> Iterable[Number]:
        names = ("rubric", "campaign", "judge", "eta", "majority", "exposed", "by")
        params = {name: self.query.get(name) for name in names}
        raters = [self.query["raters"]] if "raters" in self.query else []
        report = cached_report(select(self.dataset, raters=raters, judge_by_default=True, **params))
        chosen = report.selection
        raters_named = ",".join(rater.name for rater in chosen.raters)
        self.selection = chosen.params(raters=raters_named, eta=chosen.eta)
        self.certificates = certificates_in_words(self.dataset, chosen.filter_phrases())
        return agreement_numbers(report)


class Scores(Numbers):
    """Scores of runs, systems with reports and reference bounds: means, then topics."""

    summary = "The scores of a dataset"
    asks = ScoresQuery

    def numbers(self) -> Iterable[Number]:
        choice = ScoringQuery(self.dataset, self.query)
        options = choice.options
        self.certificates = certificates_in_words(self.dataset, choice.parse().filter_phrases())
        self.selection = options.params()
        return score_numbers(leaderboard(self.dataset, options))
