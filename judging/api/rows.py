"""API serializers of judges and their runs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from judging.engine.progress import failures_of, progress_of
from judging.models import Judge, JudgeRun


class JudgedLevelRow(serializers.Serializer):
    """Grade of a rubric with its label, as stored with the judge."""

    grade = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment] # a name of DRF's own, of an instance


class JudgeRow(serializers.ModelSerializer):
    """A rater that is a model under one prompt. What shapes its replies never changes."""

    name = serializers.CharField(source="slug", help_text="The name of its rater.")
    dataset = serializers.CharField(
        source="rater.dataset.slug",
        read_only=True,
        allow_null=True,
        help_text="The only dataset that it may judge; null: any.",
    )
    is_site_wide = serializers.BooleanField(
        help_text="Whether all researchers of the site see it; otherwise members of the projects where it runs."
    )
    is_baseline = serializers.BooleanField(help_text="Whether it is a fixed rule, and no model.")
    family = serializers.CharField(
        help_text="Of the model, by its name or by hand; empty for a baseline."
    )
    rubric = serializers.CharField(source="rubric.slug")
    levels = serializers.SerializerMethodField(help_text="The rubric as it was, ascending.")
    sampling = serializers.DictField(help_text="How the model is asked to write.")
    label_ids = serializers.ListField(
        child=serializers.IntegerField(), help_text="The tokens of the grades, where known."
    )

    class Meta:
        model = Judge
        fields = [
            "name",
            "fingerprint",
            "dataset",
            "is_site_wide",
            "is_baseline",
            "rubric",
            "levels",
            "backend",
            "model",
            "family",
            "revision",
            "prompt_name",
            "system",
            "prompt",
            "wording",
            "template_hash",
            "sampling",
            "label_ids",
            "parser",
            "failure_policy",
            "archived",
            "reply_model",
            "created",
        ]
        read_only_fields = fields

    @extend_schema_field(JudgedLevelRow(many=True))
    def get_levels(self, judge: Judge) -> list[dict[str, Any]]:
        return [{"grade": grade, "label": label} for grade, label in judge.levels]


class JudgeRunRow(serializers.ModelSerializer):
    """A judge asked for the pairs of a selection that it lacks, or a test of a judge."""

    judge = serializers.CharField(source="judge.slug", help_text="The name of the judge.")
    fingerprint = serializers.CharField(source="judge.fingerprint")
    dataset = serializers.CharField(source="dataset.slug")
    test = serializers.CharField(help_text="The test of the judge; empty: an ordinary run.")
    selection = serializers.DictField(
        help_text="Requested selection of texts; of a test the size and the seed of its sample."
    )
    endpoint = serializers.CharField(
        source="server", help_text="The name of the server; an address is not told."
    )

    class Meta:
        model = JudgeRun
        fields = [
            "id",
            "judge",
            "fingerprint",
            "dataset",
            "state",
            "note",
            "test",
            "repeats",
            "selection",
            "endpoint",
            "concurrency",
            "current_concurrency",
            "reply_seconds",
            "workers",
            "max_pairs",
            "max_tokens",
            "max_money",
            "price_in",
            "price_out",
            "currency",
            "n_planned",
            "n_there_before",
            "n_without_words",
            "n_unchanged",
            "created",
            "started",
            "ended",
        ]
        read_only_fields = fields


class ProgressRow(serializers.Serializer):
    """Progress of a run, in pairs of a text and a question."""

    planned = serializers.IntegerField(help_text="0 until the run is planned.")
    done = serializers.IntegerField(help_text="Graded or failed.")
    graded = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Replies that carry no grade.")
    sent = serializers.IntegerField(help_text="Sent to the model; other texts share their replies.")
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    money = serializers.FloatField(help_text="At the prices that the run was given.")
    rate = serializers.FloatField(
        allow_null=True, help_text="Pairs a second in the last minute; null: none came."
    )
    remaining_seconds = serializers.FloatField(allow_null=True, help_text="At this rate.")
    expected_minus_grade = serializers.FloatField(
        allow_null=True, help_text="On average; null where no probabilities are known."
    )
    shards = serializers.DictField(
        child=serializers.IntegerField(), help_text="Parts of the plan, by state."
    )
    workers = serializers.ListField(
        child=serializers.CharField(), help_text="Those that are at work."
    )


class OneRunRow(JudgeRunRow):
    """A run with its progress."""

    progress = serializers.SerializerMethodField()
    failures = serializers.SerializerMethodField(
        help_text="Replies that carry no grade, by the reason why."
    )

    class Meta(JudgeRunRow.Meta):
        fields = [*JudgeRunRow.Meta.fields, "progress", "failures"]
        read_only_fields = fields

    @extend_schema_field(ProgressRow)
    def get_progress(self, run: JudgeRun) -> dict[str, Any]:
        return progress_of(run).as_json()

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_failures(self, run: JudgeRun) -> dict[str, int]:
        return {kind.failure: kind.n for kind in failures_of(run)}
