"""Ratings: read page by page, and appended in bulk by judges that work elsewhere."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import appending
from annotation.api.access import AdminsChange
from annotation.api.endpoint import LongListing
from annotation.api.paging import Name
from annotation.api.rows import RatingRow
from annotation.api.views import OfDataset, TextsAsked
from annotation.models import Rater, Rating, Rubric
from annotation.models.rating import raters_of


class RatingsAsked(TextsAsked):
    """Which ratings. `topic` is that of the question, which a passage may not have come from."""

    rater = Name("The name of a rater, as the list of raters has it.")
    rubric = Name("The slug of a rubric.")


class AppendedRow(serializers.Serializer):
    """What an append did."""

    rater = serializers.CharField()
    rubric = serializers.CharField()
    added = serializers.IntegerField(help_text="Ratings that are new.")
    there_before = serializers.IntegerField(
        help_text="Ratings that were stored with this very grade."
    )


class Ratings(OfDataset, LongListing):
    tag = "Ratings"
    permission_classes = [AdminsChange]
    asks = RatingsAsked
    serializer_class = RatingRow

    @extend_schema(
        summary="The ratings of a dataset",
        description="Every grade with its rater, text and question, by id. What is missing is "
        "missing: a pair without a grade has no row.",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        summary="Append ratings of a judge that works elsewhere",
        description="All of them or none. The rater is a model of this dataset and is made where "
        "it is new. Sending the same ratings again changes nothing. A pair that has another grade "
        "is refused (409): grades are added, and never changed.",
        request=appending.AppendBody,
        responses=AppendedRow,
        examples=appending.EXAMPLES,
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        body = appending.AppendBody(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(appending.append(self.dataset, body.validated_data))

    def get_serializer_context(self) -> dict[str, Any]:
        context = dict(super().get_serializer_context())
        return context | {"names": {rater.pk: name for name, rater in self._raters.items()}}

    def get_queryset(self) -> QuerySet[Rating]:
        self._raters: dict[str, Rater] = raters_of(self.dataset)
        ratings = Rating.objects.of_dataset(self.dataset)
        query = self.query
        if "rater" in query:
            rater = self._raters.get(query["rater"])
            if rater is None:
                raise NotFound(f"There is no rater called {query['rater']} in {self.dataset.slug}.")
            ratings = ratings.filter(rater=rater)
        if "rubric" in query:
            rubric = Rubric.objects.filter(slug=query["rubric"]).first()
            if rubric is None:
                raise NotFound(f"There is no rubric called {query['rubric']}.")
            ratings = ratings.filter(rubric=rubric)
        if self.topic:
            ratings = ratings.filter(question__topic=self.topic)
        for name in ("kind", "system"):
            if name in query:
                ratings = ratings.filter(**{f"text__{name}": query[name]})
        return (
            ratings.select_related("rater", "rubric", "text", "question__topic")
            .defer("rubric__guideline", "text__body", "question__body", "question__topic__request")
            .prefetch_related("spans")
        )
