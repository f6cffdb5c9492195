"""Replies in tests of a judge: never attempts, and never ratings."""

from django.db import models
from django.db.models import Q

from annotation.models import SubQuestion, Text
from judging.models.attempt import Attempt
from judging.models.run import Batch, JudgeRun


class JudgeTestReply(models.Model):
    """Reply of a judge to a pair that it has graded, asked again or under a changed prompt.

    It stands beside `attempt`, the reply whose grade is tested, and has its text and question. It is no
    attempt, so nothing that reads attempts or ratings meets it. Its tokens are in the batch.
    """

    run = models.ForeignKey(
        JudgeRun, on_delete=models.CASCADE, related_name="test_replies", db_index=False
    )
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="test_replies")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="test_replies")
    repeat = models.PositiveSmallIntegerField(help_text="from 1")
    state = models.CharField(max_length=11, choices=Attempt.STATES)
    failure = models.CharField(max_length=12, choices=Attempt.FAILURES, blank=True)
    grade = models.SmallIntegerField(null=True, blank=True)
    raw = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    detail = models.CharField(max_length=500, blank=True)
    prompt_hash = models.CharField(max_length=16, blank=True)

    class Meta:
        ordering = ["id"]
        verbose_name = "reply in a test of a judge"
        verbose_name_plural = "replies in tests of judges"
        constraints = [
            models.UniqueConstraint(fields=["run", "repeat", "attempt"], name="pair_repeated_once"),
            models.CheckConstraint(
                condition=Q(state="graded", grade__gte=0, failure="")
                | (~Q(state="graded") & Q(grade=None) & ~Q(failure="")),
                name="test_reply_grade_iff_graded",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}, {self.repeat}: {self.grade if self.grade is not None else self.failure}"

    @property
    def text(self) -> Text:
        return self.attempt.text

    @property
    def text_id(self) -> int:
        return self.attempt.text_id

    @property
    def question(self) -> SubQuestion:
        return self.attempt.question

    @property
    def question_id(self) -> int:
        return self.attempt.question_id
