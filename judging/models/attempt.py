"""Attempts: replies of a judge about a pair, as received."""

from django.db import models
from django.db.models import Max, Q

from judging.grading.pairs import State
from judging.llm.errors import Failure
from judging.llm.reasoning import split_reasoning
from judging.models.run import JudgeRun


class AttemptQuerySet(models.QuerySet["Attempt"]):
    def settled_for(self, run: JudgeRun) -> "AttemptQuerySet":
        """Return the attempts of a run's judge that the run need not make.

        Those that count; in a run that asks failures again, but for what others tried in vain.
        """
        counted = self.filter(judge=run.judge, counts=True)
        return (
            counted.filter(Q(batch__run=run) | Q(state=State.GRADED)) if run.is_retry else counted
        )

    def stop_counting(self) -> None:
        """Mark attempts as not counting, as their text was edited.

        Judges are then asked about the new text.
        """
        self.filter(counts=True).update(counts=False)

    def count_again(self) -> None:
        """Count the newest graded attempt of each judge at a pair where none counts."""
        newest = self.filter(state=State.GRADED).order_by().values("judge", "text", "question")
        counted = self.filter(counts=True).values_list("judge", "text", "question")
        settled = set(counted)
        for row in newest.annotate(last=Max("pk")):
            if (row["judge"], row["text"], row["question"]) not in settled:
                self.filter(pk=row["last"]).update(counts=True)


class Attempt(models.Model):
    """A raw reply and its parsed result.

    Exactly one attempt of a judge at a pair counts; one that failed and was asked again is kept and
    does not count any more. A graded attempt that counts is projected to a Rating of the judge's rater.
    """

    STATES = [(state.value, state.value) for state in State]
    FAILURES = [(failure.value, failure.value) for failure in Failure]

    judge = models.ForeignKey(
        "judging.Judge", on_delete=models.PROTECT, related_name="attempts", db_index=False
    )
    # The unique constraint's own index begins with the judge, then the text: it serves the look-ups.
    text = models.ForeignKey(
        "annotation.Text", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    question = models.ForeignKey(
        "annotation.SubQuestion", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    batch = models.ForeignKey("judging.Batch", on_delete=models.PROTECT, related_name="attempts")
    counts = models.BooleanField(default=True)
    copied = models.BooleanField(default=False, help_text="reply about another text of equal words")
    state = models.CharField(max_length=11, choices=STATES)
    failure = models.CharField(max_length=12, choices=FAILURES, blank=True)
    grade = models.SmallIntegerField(null=True, blank=True)
    raw = models.TextField(blank=True)
    reasoning = models.TextField(
        blank=True,
        default="",
        help_text="reasoning of the model, if the server returns it beside the reply",
    )
    detail = models.CharField(max_length=500, blank=True)
    prompt_hash = models.CharField(max_length=16, blank=True)
    probabilities = models.JSONField(null=True, blank=True)
    expected_grade = models.FloatField(null=True, blank=True)
    label_mass = models.FloatField(null=True, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)

    objects = AttemptQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = "reply of a judge"
        verbose_name_plural = "replies of judges"
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "text", "question"],
                condition=Q(counts=True),
                name="pair_judged_once",
            ),
            models.CheckConstraint(
                condition=Q(state="graded", grade__gte=0, failure="")
                | (~Q(state="graded") & Q(grade=None) & ~Q(failure="")),
                name="attempt_grade_iff_graded",
            ),
        ]
        indexes = [
            models.Index(fields=["batch"], condition=~Q(state="graded"), name="failed_attempts")
        ]

    def __str__(self) -> str:
        return f"{self.judge_id}: {self.grade if self.grade is not None else self.failure}"

    @property
    def thoughts(self) -> str:
        """Return the model's reasoning, from its own field or between tags in the reply."""
        return self.reasoning or split_reasoning(self.raw)[0]
