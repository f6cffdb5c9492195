"""Serializers of the test collection: the rows that the API returns."""

from typing import Any

from rest_framework import serializers

from annotation.models import (
    Dataset,
    NuggetSpan,
    Rater,
    Rating,
    Rubric,
    RubricLevel,
    SubQuestion,
    Text,
    Topic,
)
from annotation.models.rating import Exposure
from annotation.models.rubric_rules import content_version
from annotation.origins import ROLES


class DatasetRow(serializers.ModelSerializer):
    """A test collection."""

    n_topics = serializers.IntegerField()
    n_questions = serializers.IntegerField()
    n_texts = serializers.IntegerField()

    class Meta:
        model = Dataset
        fields = ["slug", "title", "created", "n_topics", "n_questions", "n_texts"]
        read_only_fields = fields


class TopicRow(serializers.ModelSerializer):
    """An open-ended query: the request that a report answers."""

    n_questions = serializers.IntegerField(help_text="The filtered ones too.")

    class Meta:
        model = Topic
        fields = ["id", "name", "position", "request", "n_questions"]
        read_only_fields = fields


class OriginRow(serializers.Serializer):
    """A model in a role."""

    role = serializers.ChoiceField(choices=ROLES)
    model = serializers.CharField()
    revision = serializers.CharField(required=False, help_text="Missing: not known.")
    edited = serializers.BooleanField(
        required=False, help_text="True: a person has edited the words since."
    )


class QuestionRow(serializers.ModelSerializer):
    """A question of a topic."""

    topic = serializers.CharField(source="topic.name", help_text="The name of its topic.")
    is_filtered = serializers.BooleanField(
        help_text="Whether its study left it out, and asks nobody."
    )
    origins = OriginRow(many=True, help_text="Models that made it; empty: unknown.")

    class Meta:
        model = SubQuestion
        fields = [
            "id",
            "topic",
            "position",
            "body",
            "is_filtered",
            "filtered_because",
            "filtered_eta",
            "origins",
        ]
        read_only_fields = fields


class TextRow(serializers.ModelSerializer):
    """A passage, a generated report or a human reference summary."""

    topic = serializers.CharField(
        source="topic.name", read_only=True, allow_null=True, help_text="The name of its topic."
    )
    body = serializers.CharField(
        allow_null=True, help_text="null: runs or ratings name it, but its words are not here."
    )
    sha256 = serializers.CharField(help_text="Of the words in UTF-8; empty without words.")
    origins = OriginRow(
        many=True, help_text="Models that wrote it, or retrieved for it; empty: unknown."
    )

    class Meta:
        model = Text
        fields = ["id", "kind", "system", "name", "topic", "body", "sha256", "origins"]
        read_only_fields = fields


class LevelExampleRow(serializers.Serializer):
    """A pair of a grade, and why this grade is right."""

    text = serializers.CharField()
    question = serializers.CharField(help_text="May be empty.")
    reason = serializers.CharField()


class RubricLevelRow(serializers.ModelSerializer):
    name = serializers.CharField(help_text="One word for it; may be empty.")
    examples = LevelExampleRow(many=True, help_text="Displayed below the guideline; three at most.")

    class Meta:
        model = RubricLevel
        fields = ["grade", "label", "name", "key", "colour", "examples"]
        read_only_fields = fields


class ImpossibleRow(serializers.Serializer):
    """A grade that cannot be right together with grades of another rubric."""

    grade = serializers.IntegerField()
    rubric = serializers.CharField(help_text="The other rubric; it may be missing on this site.")
    grades = serializers.ListField(child=serializers.IntegerField())


class RubricRow(serializers.ModelSerializer):
    """A question asked of every pair, and the grades that may answer it."""

    levels = RubricLevelRow(many=True, help_text="From the highest grade down.")
    shows = serializers.ListField(child=serializers.ChoiceField(choices=Rubric.Shows.choices))
    impossible = ImpossibleRow(many=True, help_text="Declared by this rubric alone.")
    project: Any = serializers.SlugRelatedField(
        slug_field="slug",
        read_only=True,
        allow_null=True,
        help_text="Null: it belongs to the site.",
    )
    version = serializers.SerializerMethodField(
        help_text="Of what is stored: send it back with a change."
    )

    class Meta:
        model = Rubric
        fields = [
            *("slug", "title", "question", "scale", "shows", "eta", "span_from", "impossible"),
            *("guideline", "is_retired", "project", "levels", "version"),
        ]
        read_only_fields = fields

    def get_version(self, rubric: Rubric) -> str:
        return content_version(rubric)


class RaterRow(serializers.Serializer):
    """A person, a model under one prompt, or a baseline."""

    name = serializers.CharField(help_text="As it is called in this dataset and in its files.")
    kind = serializers.ChoiceField(choices=Rater.Kind.choices)
    is_of_dataset = serializers.BooleanField(
        help_text="Whether it came with this dataset; else it is an account or a judge of the site."
    )


class NamedText(serializers.ModelSerializer):
    """A text without its body."""

    class Meta:
        model = Text
        fields = ["id", "kind", "system", "name", "sha256"]
        read_only_fields = fields


class NamedQuestion(serializers.ModelSerializer):
    """A question without its body."""

    topic = serializers.CharField(source="topic.name", help_text="The name of its topic.")

    class Meta:
        model = SubQuestion
        fields = ["id", "topic", "position"]
        read_only_fields = fields


class SpanRow(serializers.ModelSerializer):
    """A span that supports a grade: half-open [start, end) in code points of the text."""

    class Meta:
        model = NuggetSpan
        fields = ["start", "end", "quote", "located"]
        read_only_fields = fields


class RatingRow(serializers.ModelSerializer):
    """The grade that a rater gave to a pair of a text and a question. No row: no rating."""

    rater = serializers.SerializerMethodField(help_text="As it is called in this dataset.")
    rater_kind = serializers.ChoiceField(choices=Rater.Kind.choices, source="rater.kind")
    rubric = serializers.CharField(source="rubric.slug")
    text = NamedText()
    question = NamedQuestion()
    copied_from = serializers.IntegerField(
        source="copied_from_id",
        allow_null=True,
        help_text="The id of the text of equal words that the rater read; null: this text.",
    )
    exposure = serializers.SerializerMethodField(
        help_text="What the rater had seen: none, judge, raters, both, feedback or unknown."
    )
    spans = SpanRow(many=True)

    class Meta:
        model = Rating
        fields = [
            "id",
            "rater",
            "rater_kind",
            "rubric",
            "text",
            "question",
            "grade",
            "copied_from",
            "exposure",
            "created",
            "spans",
        ]
        read_only_fields = fields

    def get_exposure(self, rating: Rating) -> str:
        return Exposure(rating.exposure).file_name

    def get_rater(self, rating: Rating) -> str:
        names: dict[int, str] = self.context["names"]
        # Somebody may have given a first grade since the names were read.
        return names.get(rating.rater_id, rating.rater.name)
