"""Ratings: listed page by page, and appended in bulk by external judges."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import ChoiceFilter
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import appending
from annotation.api.access import IsAdminOrReadOnly
from annotation.api.endpoint import LongListing
from annotation.api.filters import DatasetFilters, name_filter, topic_filter
from annotation.api.rows import RatingRow
from annotation.api.views import DatasetEndpoint
from annotation.models import Rater, Rating, Rubric, Text
from annotation.models.rating import raters_of


class RatingFilters(DatasetFilters):
    """`topic` is that of the question, which a passage may not have come from."""

    topic = topic_filter("question__topic")
    kind = ChoiceFilter(choices=Text.Kind.choices, field_name="text__kind")
    system = name_filter("What generated a report.", field_name="text__system")
    rater = name_filter("The name of a rater, as the list of raters has it.", method="of_rater")
    rubric = name_filter("The slug of a rubric.", method="of_rubric")

    def of_rater(self, ratings: QuerySet[Rating], _: str, name: str) -> QuerySet[Rating]:
        rater = self.view.raters.get(name)
        if rater is None:
            raise NotFound(f"There is no rater called {name} in {self.view.dataset.slug}.")
        return ratings.filter(rater=rater)

    def of_rubric(self, ratings: QuerySet[Rating], _: str, slug: str) -> QuerySet[Rating]:
        rubric = Rubric.objects.filter(slug=slug).first()
        if rubric is None:
            raise NotFound(f"There is no rubric called {slug}.")
        return ratings.filter(rubric=rubric)


class AppendedRow(serializers.Serializer):
    """The result of appending ratings."""

    rater = serializers.CharField()
    rubric = serializers.CharField()
    added = serializers.IntegerField(help_text="Ratings that are new.")
    there_before = serializers.IntegerField(
        help_text="Ratings that were stored with this very grade."
    )


class RatingsEndpoint(DatasetEndpoint, generics.GenericAPIView):
    """Base view of the ratings of one dataset, with their filters."""

    tag = "Ratings"
    filterset_class = RatingFilters
    queryset: QuerySet[Rating] = Rating.objects.all()

    @cached_property
    def raters(self) -> dict[str, Rater]:
        return raters_of(self.dataset)

    @property
    def rater_names(self) -> dict[int, str]:
        """Return the names of the raters in this dataset, by the key of the rater."""
        return {rater.pk: name for name, rater in self.raters.items()}

    def get_queryset(self) -> QuerySet[Rating]:
        return super().get_queryset().filter(text__dataset=self.dataset)


class Ratings(RatingsEndpoint, LongListing):
    permission_classes = [IsAdminOrReadOnly]
    serializer_class = RatingRow
    queryset = (
        Rating.objects.select_related("rater", "rubric", "text", "question__topic")
        .defer("rubric__guideline", "text__body", "question__body", "question__topic__request")
        .prefetch_related("spans")
    )

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
        return dict(super().get_serializer_context()) | {"names": self.rater_names}
