"""Endpoints of datasets and their contents, and of rubrics."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django_filters.rest_framework import ChoiceFilter
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.endpoint import Endpoint, Listing, LongListing
from annotation.api.errors import VersionConflict
from annotation.api.filters import DatasetFilters, name_filter, topic_filter
from annotation.api.making_rubrics import (
    EXAMPLES,
    ChangeBody,
    RubricBody,
    apply_change,
    create_rubric,
)
from annotation.api.rows import DatasetRow, QuestionRow, RaterRow, RubricRow, TextRow, TopicRow
from annotation.models import Dataset, Rater, Rubric, SubQuestion, Text, Topic, User
from annotation.models.rating import raters_of
from annotation.models.rubric import RubricQuerySet


class DatasetEndpoint(Endpoint):
    """Base view of rows of one dataset."""

    @cached_property
    def dataset(self) -> Dataset:
        slug = self.kwargs["dataset"]
        dataset = Dataset.objects.visible_to(self.user).filter(slug=slug).first()
        if dataset is None:
            raise NotFound(f"There is no dataset called {slug}.")
        return dataset


class QuestionFilters(DatasetFilters):
    topic = topic_filter("topic")


class TextFilters(DatasetFilters):
    topic = topic_filter("topic")
    kind = ChoiceFilter(choices=Text.Kind.choices)
    system = name_filter("What generated a report.")


def _counted_datasets(user: User) -> QuerySet[Dataset]:
    def n(rows: QuerySet[Any], of: str) -> Coalesce:
        counted = rows.filter(**{of: OuterRef("pk")}).order_by().values(of).annotate(n=Count("pk"))
        return Coalesce(Subquery(counted.values("n"), output_field=IntegerField()), 0)

    return (
        Dataset.objects.visible_to(user)
        .annotate(
            n_topics=n(Topic.objects.all(), "dataset"),
            n_questions=n(SubQuestion.objects.all(), "topic__dataset"),
            n_texts=n(Text.objects.all(), "dataset"),
        )
        .order_by("slug")
    )


class Datasets(Listing):
    """All datasets of the projects that you are in, by slug."""

    summary = "All datasets"
    tag = "Datasets"
    serializer_class = DatasetRow
    queryset = Dataset.objects.none()

    def get_queryset(self) -> QuerySet[Dataset]:
        return _counted_datasets(self.user)


class OneDataset(Endpoint, generics.RetrieveAPIView):
    """A dataset, with the numbers of its rows."""

    summary = "One dataset"
    tag = "Datasets"
    serializer_class = DatasetRow

    def get_object(self) -> Dataset:
        slug = self.kwargs["dataset"]
        dataset = _counted_datasets(self.user).filter(slug=slug).first()
        if dataset is None:
            raise NotFound(f"There is no dataset called {slug}.")
        return dataset


class Topics(DatasetEndpoint, Listing):
    """The topics, in the order of the study."""

    summary = "The topics of a dataset"
    tag = "Datasets"
    serializer_class = TopicRow
    queryset = Topic.objects.order_by("position", "pk")

    def get_queryset(self) -> QuerySet[Topic]:
        topics = super().get_queryset().filter(dataset=self.dataset)
        return topics.annotate(n_questions=Count("questions"))


class Questions(DatasetEndpoint, Listing):
    """The questions, topic by topic, including filtered ones with the reason."""

    summary = "The questions of a dataset"
    tag = "Datasets"
    filterset_class = QuestionFilters
    serializer_class = QuestionRow
    queryset = SubQuestion.objects.select_related("topic").order_by(
        "topic__position", "topic_id", "position"
    )

    def get_queryset(self) -> QuerySet[SubQuestion]:
        return super().get_queryset().filter(topic__dataset=self.dataset)


class Texts(DatasetEndpoint, LongListing):
    """Passages, reports and reference summaries with their bodies, by id."""

    summary = "The texts of a dataset"
    tag = "Datasets"
    filterset_class = TextFilters
    serializer_class = TextRow
    queryset = Text.objects.select_related("topic")

    def get_queryset(self) -> QuerySet[Text]:
        return super().get_queryset().filter(dataset=self.dataset)


class OneText(DatasetEndpoint, generics.RetrieveAPIView):
    """A text with its body."""

    summary = "One text"
    tag = "Datasets"
    serializer_class = TextRow

    def get_object(self) -> Text:
        pk = self.kwargs["id"]
        text = self.dataset.texts.select_related("topic").filter(pk=pk).first()
        if text is None:
            raise NotFound(f"There is no text {pk} in {self.dataset.slug}.")
        return text


class Raters(DatasetEndpoint, Listing):
    """Raters of the dataset, by their names in its files."""

    summary = "The raters of a dataset"
    tag = "Ratings"
    serializer_class = RaterRow
    queryset = Rater.objects.none()

    def filter_queryset(self, queryset: Any) -> Any:
        return [
            {"name": name, "kind": rater.kind, "is_of_dataset": rater.dataset_id is not None}
            for name, rater in sorted(raters_of(self.dataset).items())
        ]


class Rubrics(Listing):
    tag = "Ratings"
    serializer_class = RubricRow
    queryset = Rubric.objects.none()

    def get_queryset(self) -> RubricQuerySet:
        rubrics = Rubric.objects.visible_to(self.user).select_related("project")
        return rubrics.prefetch_related("levels").order_by("slug")

    @extend_schema(
        summary="All rubrics",
        description="The rubrics of the site and of your projects, with the grades that each allows.",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        summary="Make a rubric",
        description="For a project, its owners and admins; for the whole site, admins only. Once it is "
        "used, all but its guideline stays as it is.",
        request=RubricBody,
        responses={201: RubricRow},
        examples=EXAMPLES,
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if not self.user.owns_any_project:
            raise PermissionDenied("Only owners of a project and admins may do this.")
        body = RubricBody(data=request.data)
        body.is_valid(raise_exception=True)
        rubric = create_rubric(body.validated_data, self.user)
        return Response(RubricRow(rubric).data, status=status.HTTP_201_CREATED)


class OneRubric(Endpoint, generics.RetrieveAPIView):
    tag = "Ratings"
    serializer_class = RubricRow

    @extend_schema(summary="One rubric")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="rubrics_change",
        summary="Change a rubric",
        description="Its guideline, and whether it is retired; all else stays. Owners can change the "
        "rubrics of their projects, and admins all. A change "
        "needs the version of the rubric that you read. If another client has changed the rubric "
        "since, nothing is stored, and the answer has both values and the new version (409).",
        request=ChangeBody,
        responses={200: RubricRow, 409: VersionConflict},
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if not self.get_object().is_editable_by(self.user):
            raise PermissionDenied("Only owners of the rubric's project and admins may do this.")
        body = ChangeBody(data=request.data)
        body.is_valid(raise_exception=True)
        with transaction.atomic():
            editable = Rubric.objects.editable_by(self.user)
            rubric = self._of_slug(editable.select_for_update(of=("self",)))
            rubric.save(update_fields=apply_change(rubric, body.validated_data))
        return Response(RubricRow(rubric).data)

    def get_object(self) -> Rubric:
        return self._of_slug(Rubric.objects.visible_to(self.user).select_related("project"))

    def _of_slug(self, rubrics: RubricQuerySet) -> Rubric:
        slug = self.kwargs["slug"]
        rubric = rubrics.prefetch_related("levels").of_slug(slug)
        if rubric is None:
            raise NotFound(f"There is no rubric called {slug}.")
        return rubric
