"""Checks of a campaign: screening, comprehension, and attention checks."""

from typing import Any

from django.db import models


class CheckQuestion(models.Model):
    """Screening or comprehension question, asked once before the work."""

    class Purpose(models.TextChoices):
        SCREENING = "screening", "screening: a wrong answer ends the visit"
        COMPREHENSION = "comprehension", "comprehension: two tries"

    campaign = models.ForeignKey(
        "annotation.Campaign",
        on_delete=models.CASCADE,
        related_name="check_questions",
        db_index=False,
    )
    purpose = models.CharField(max_length=13, choices=Purpose.choices)
    position = models.PositiveSmallIntegerField()
    body = models.TextField()
    options: Any = models.JSONField(help_text="the choices, as a list of strings")
    correct = models.PositiveSmallIntegerField(help_text="index of the correct choice, from 0")
    why = models.TextField(blank=True, help_text="displayed after a wrong answer")

    class Meta:
        ordering = ["campaign_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "position"], name="check_question_position_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.body


class AttentionCheck(models.Model):
    """Attention check: a question that states its answer, among the questions of some items.

    Prolific accepts only this kind: an explicit instruction, nothing to know or to guess.
    """

    campaign = models.ForeignKey(
        "annotation.Campaign",
        on_delete=models.CASCADE,
        related_name="attention_checks",
        db_index=False,
    )
    position = models.PositiveSmallIntegerField()
    body = models.TextField()
    expected = models.SmallIntegerField()

    class Meta:
        ordering = ["campaign_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "position"], name="attention_check_position_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.body
