"""Outputs of a draft, with the reviewer's decision."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Product(models.Model):
    """A generated text or question; it enters the collection when a person accepts it.

    `body` are the writer's words for ever; `edited` those that a person made of them. What it became is one
    of `text` and `question`, or the request of the order's topic.
    """

    class Decision(models.TextChoices):
        PROPOSED = "proposed", "not yet reviewed"
        ACCEPTED = "accepted", "accepted"
        EDITED = "edited", "accepted with edits"
        REJECTED = "rejected", "rejected"

    draft = models.ForeignKey(
        "building.Draft", on_delete=models.CASCADE, related_name="products", db_index=False
    )
    position = models.PositiveSmallIntegerField()
    body = models.TextField()
    flags = models.JSONField(default=list, help_text="remarks for the reviewer, as sentences")
    statements = models.JSONField(
        default=list,
        help_text="for a report: [start, end, [labels]], offsets in code points of the body",
    )
    decision = models.CharField(max_length=8, choices=Decision.choices, default=Decision.PROPOSED)
    edited = models.TextField(blank=True)
    unseen = models.BooleanField(
        default=False, help_text="accepted without review, together with others"
    )
    decided = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    text = models.OneToOneField(
        "annotation.Text",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="written_as",
    )
    question = models.OneToOneField(
        "annotation.SubQuestion",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="written_as",
    )

    class Meta:
        ordering = ["draft_id", "position"]
        verbose_name = "output"
        verbose_name_plural = "outputs"
        constraints = [
            models.UniqueConstraint(fields=["draft", "position"], name="product_position_unique"),
            models.CheckConstraint(
                condition=Q(decision="proposed", decided__isnull=True)
                | (~Q(decision="proposed") & Q(decided__isnull=False)),
                name="decision_has_its_time",
            ),
            models.CheckConstraint(
                condition=Q(decision="edited") & ~Q(edited="")
                | (~Q(decision="edited") & Q(edited="")),
                name="edited_words_iff_edited",
            ),
        ]

    def __str__(self) -> str:
        return self.words

    @property
    def words(self) -> str:
        """Return the text as accepted, edited or not, or as it would be accepted."""
        return self.edited or self.body

    @property
    def decision_summary(self) -> str:
        """Describe the decision and who made it."""
        text = str(self.get_decision_display()).capitalize()
        text += ", without review" if self.unseen else ""
        return text + (f", by {self.decided_by}" if self.decided_by else "")

    @property
    def is_open(self) -> bool:
        return self.decision == self.Decision.PROPOSED
