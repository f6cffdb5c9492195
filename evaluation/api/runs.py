"""API of retrieval runs."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, QuerySet
from rest_framework import serializers
from rest_framework.exceptions import NotFound

from annotation.api.endpoint import Listing
from annotation.api.filters import DatasetFilters, topic_filter
from annotation.api.paging import LARGEST_KEY, NumberedPagination, Page
from annotation.api.rows import OriginRow
from annotation.api.views import DatasetEndpoint
from annotation.models import Text, Topic
from evaluation.models import RankedText, RetrievalRun

USUAL, LARGEST = 20, 100  # rankings to a page


class RunRow(serializers.ModelSerializer):
    """Named ranking of texts for each topic."""

    n_topics = serializers.IntegerField()
    n_ranked = serializers.IntegerField(help_text="Ranked texts of all topics.")
    origins = OriginRow(many=True, help_text="Models that retrieved and reranked; empty: unknown.")

    class Meta:
        model = RetrievalRun
        fields = ["name", "tag", "n_topics", "n_ranked", "origins"]
        read_only_fields = fields


class RankedRow(serializers.ModelSerializer):
    """Text at its rank, from 1."""

    id = serializers.IntegerField(source="text_id", help_text="The id of the text.")
    kind = serializers.ChoiceField(choices=Text.Kind.choices, source="text.kind")
    system = serializers.CharField(source="text.system")
    name = serializers.CharField(source="text.name")

    class Meta:
        model = RankedText
        fields = ["rank", "score", "id", "kind", "system", "name"]
        read_only_fields = fields


class RankingRow(serializers.Serializer):
    """Texts of a run for one topic, in the order of their ranks."""

    topic = serializers.CharField(source="name", help_text="The name of the topic.")
    texts = RankedRow(many=True, source="texts_ranked")


class RankingFilters(DatasetFilters):
    topic = topic_filter("pk")


class RankingPage(Page):
    """Page size of a list of rankings, and the depth of each."""

    limit = serializers.IntegerField(
        min_value=1, max_value=LARGEST, default=USUAL, help_text="How many topics to a page."
    )
    depth = serializers.IntegerField(
        min_value=1, max_value=LARGEST_KEY, required=False, help_text="The last rank to tell."
    )


class ByTopic(NumberedPagination):
    page_size = USUAL
    max_page_size = LARGEST


class Runs(DatasetEndpoint, Listing):
    """Runs by name; the rankings of each have their own address."""

    summary = "The retrieval runs of a dataset"
    tag = "Retrieval runs"
    serializer_class = RunRow
    queryset = RetrievalRun.objects.order_by("name")

    def get_queryset(self) -> QuerySet[RetrievalRun]:
        runs = super().get_queryset().filter(dataset=self.dataset)
        return runs.annotate(
            n_topics=Count("ranked__topic", distinct=True), n_ranked=Count("ranked")
        )


class Rankings(DatasetEndpoint, Listing):
    """Rankings of a run by topic, in the order of the topics."""

    summary = "The rankings of a retrieval run"
    tag = "Retrieval runs"
    asks = RankingPage
    filterset_class = RankingFilters
    pagination_class = ByTopic
    serializer_class = RankingRow
    queryset = Topic.objects.order_by("position", "pk")

    def get_queryset(self) -> QuerySet[Topic]:
        name = self.kwargs["run"]
        # No database stores a NUL in a name, and some raise an error in a query with one.
        runs = RetrievalRun.objects.filter(dataset=self.dataset, name=name.replace("\x00", "?"))
        run = runs.first()
        if run is None or run.name != name:
            raise NotFound(f"There is no run called {name!r} in {self.dataset.slug}.")
        ranked: QuerySet[Any] = RankedText.objects.filter(run=run)
        if "depth" in self.query:
            ranked = ranked.filter(rank__lte=self.query["depth"])
        ranked = ranked.select_related("text").defer("text__body").order_by("rank")
        topics = super().get_queryset().filter(dataset=self.dataset)
        return topics.filter(
            Exists(RankedText.objects.filter(run=run, topic=OuterRef("pk")))
        ).prefetch_related(Prefetch("ranked", queryset=ranked, to_attr="texts_ranked"))
