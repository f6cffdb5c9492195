"""Survey of a campaign: questions before and after the work, and people's answers."""

from typing import Any

from django.db import models
from django.db.models import Q


class SurveyQuestion(models.Model):
    """Question of the survey page before or after the work, in the campaign's language."""

    class Page(models.TextChoices):
        BEFORE_WORK = "before", "before the work"
        AFTER_WORK = "after", "after the work"

    class Kind(models.TextChoices):
        SINGLE = "single", "one choice"
        MULTIPLE = "multiple", "several choices"
        SCALE = "scale", "scale from 1 to n"
        TEXT = "text", "text"

    campaign = models.ForeignKey(
        "annotation.Campaign",
        on_delete=models.CASCADE,
        related_name="survey_questions",
        db_index=False,
    )
    page = models.CharField(max_length=6, choices=Page.choices)
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    body = models.TextField()
    options: Any = models.JSONField(
        default=list, help_text="the choices, or the labels of both ends of a scale"
    )
    points = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="highest number of a scale"
    )
    is_required = models.BooleanField(default=False)
    is_demographic = models.BooleanField(default=False)
    is_separate = models.BooleanField(
        default=False, help_text="answers are displayed and exported as counts, without people"
    )

    class Meta:
        ordering = ["campaign_id", "-page", "position"]  # "before" comes first
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "page", "position"], name="survey_question_position_unique"
            ),
            models.CheckConstraint(
                condition=Q(kind="scale", points__gte=2) | (~Q(kind="scale") & Q(points=None)),
                name="survey_scale_has_points",
            ),
        ]

    def __str__(self) -> str:
        return self.body

    @property
    def number(self) -> int:
        return self.position + 1

    @property
    def features(self) -> list[str]:
        """Return the kind and the settings in words, for staff."""
        features = [f"scale from 1 to {self.points}" if self.points else self.get_kind_display()]
        features += ["required"] if self.is_required else []
        features += ["demographic"] if self.is_demographic else []
        return features + (["apart from names"] if self.is_separate else [])

    def labels(self) -> list[str]:
        """Return all answers that can be chosen; none for a text."""
        if self.kind == self.Kind.SCALE:
            return [str(point) for point in range(1, (self.points or 0) + 1)]
        return list(self.options)

    def answer_labels(self, value: Any) -> list[str]:
        """Return a stored answer as texts: one for each choice."""
        if self.kind in (self.Kind.SCALE, self.Kind.TEXT):
            return [str(value)]
        chosen = value if self.kind == self.Kind.MULTIPLE else [value]
        return [self.options[index] for index in chosen]


class SurveyAnswer(models.Model):
    """Answer of a participant to a survey question; a later one replaces it.

    It has no time: that would lead from an answer without a name to the person.
    """

    participant = models.ForeignKey(
        "annotation.Participant",
        on_delete=models.CASCADE,
        related_name="survey_answers",
        db_index=False,
    )
    question = models.ForeignKey(
        SurveyQuestion, on_delete=models.CASCADE, related_name="survey_answers"
    )
    value: Any = models.JSONField(
        help_text="index of the choice from 0, list of indexes, number of the scale, or text"
    )

    class Meta:
        ordering = ["participant_id", "question_id"]
        constraints = [
            models.UniqueConstraint(
                fields=["participant", "question"], name="survey_answer_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"answer {self.pk} to a survey question"
