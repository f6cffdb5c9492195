"""Answers of people on the task page, which their ratings follow."""

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from annotation.models.rating import Exposure
from annotation.models.rubric import Rubric


class AnswerQuerySet(models.QuerySet["Answer"]):
    def remarks(self) -> "AnswerQuerySet":
        """Return the newest counting answers that have a note or a confidence.

        As with ratings, none of pilots, of training and of repeats; `rated_under` is the key of their rubric.
        """
        rubric = Coalesce("rubric", "assignment__participant__campaign__rubric")
        newer = Answer.objects.annotate(rated_under=rubric).filter(
            rated_under=OuterRef("rated_under"),
            assignment=OuterRef("assignment"),
            question=OuterRef("question"),
            late=Answer.Late.NO,
            pk__gt=OuterRef("pk"),
        )
        answers = self.filter(
            late=Answer.Late.NO,
            question__isnull=False,
            assignment__participant__campaign__is_pilot=False,
            assignment__repeats=None,
        )
        answers = answers.exclude(assignment__item__purpose="training")
        answers = answers.exclude(note="", confidence="")
        return answers.annotate(rated_under=rubric).exclude(Exists(newer))


class Answer(models.Model):
    """Answer of a person to one question: append-only, never changed and never deleted.

    The browser makes the key, so that submission is idempotent: an answer sent twice is stored
    once. A grade of None withdraws an earlier answer. The newest answer of an assignment's question
    under a rubric becomes its Rating. An answer to an attention check has that check instead of a
    question, and is never a rating.

    A late answer is stored without becoming a rating; `late` says why. If the item is submitted
    after all, its newest answers become ratings, and are no longer late.
    """

    class Late(models.TextChoices):
        NO = "", "in time"
        RETURNED = "taken_back", "the assignment was released"
        CLOSED = "closed", "the study was closed"
        EXCLUDED = "set_aside", "the work was excluded"

    class Confidence(models.TextChoices):
        LOW = "low", _("low")
        MEDIUM = "medium", _("medium")
        HIGH = "high", _("high")

    reopens = False  # whether it took back that its item was handed in; known as it is saved

    assignment = models.ForeignKey(
        "annotation.Assignment", on_delete=models.PROTECT, related_name="answers", db_index=False
    )
    question = models.ForeignKey(
        "annotation.SubQuestion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="answers",
    )
    check_asked = models.ForeignKey(
        "annotation.AttentionCheck",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="answers",
    )
    # No index: no query filters by it, and every insert would pay for one.
    rubric = models.ForeignKey(
        Rubric,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="further rubric of the campaign; empty: its first rubric",
    )
    key = models.UUIDField()
    grade = models.SmallIntegerField(null=True)
    spans = models.JSONField(help_text="[{start, end, quote}], offsets in code points of the text")
    text_sha256 = models.CharField(max_length=64, help_text="SHA-256 of the displayed text")
    active_ms = models.PositiveIntegerField(
        default=0,
        help_text="active milliseconds on the page since the previous answer; without idle time",
    )
    late = models.CharField(
        max_length=10,
        choices=Late.choices,
        blank=True,
        default=Late.NO,
        help_text="why the answer is stored but is not a rating",
    )
    altered = models.BooleanField(
        default=False,
        help_text="the browser had changed the text or questions of the page, for example by translation",
    )
    exposure = models.SmallIntegerField(
        choices=Exposure.choices,
        default=Exposure.NONE,
        db_default=Exposure.NONE,
        help_text="what the person had seen before the answer",
    )
    note = models.TextField(blank=True, default="", help_text="what the person wrote about it")
    confidence = models.CharField(
        max_length=6, choices=Confidence, blank=True, default="", help_text="how sure the person is"
    )
    rated_spans = models.JSONField(
        null=True,
        blank=True,
        help_text="spans of its rating on an edited text when it stopped counting; some may be placed by hand",
    )
    created = models.DateTimeField(auto_now_add=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "key"], name="answer_stored_once"),
            models.CheckConstraint(
                condition=Q(question=None, check_asked__isnull=False)
                | Q(question__isnull=False, check_asked=None),
                name="answer_is_to_one_question",
            ),
        ]
        indexes = [
            # Few answers have a note; the others are not in it.
            models.Index(fields=["question"], condition=~Q(note=""), name="answer_with_note")
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.question_id or self.check_asked_id}: {self.grade}"
