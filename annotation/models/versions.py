"""Text history: earlier wordings of texts and questions, with their superseded grades."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotation.models.corpus import SubQuestion, Text


class Version(models.Model):
    """An earlier wording of a text or a question.

    Where its grades are superseded by the edit (`counts` is False), they lie in `set_aside`: a list
    of {rater, rubric, text, question, grade, created, spans, text_sha256, key}, by keys; the hash
    is of the wording that the spans are in, and the last key is the rating's own. Each span has its
    `earlier_positions` with it. `citations` are marks of a report whose statements are not in its
    new wording, as rows.
    """

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="versions"
    )
    text = models.ForeignKey(
        "annotation.Text", on_delete=models.CASCADE, related_name="versions", null=True, blank=True
    )
    question = models.ForeignKey(
        "annotation.SubQuestion",
        on_delete=models.CASCADE,
        related_name="versions",
        null=True,
        blank=True,
    )
    number = models.PositiveSmallIntegerField(help_text="from 1, the original wording")
    body = models.TextField()
    why = models.CharField(max_length=200, blank=True)
    counts = models.BooleanField(default=True)
    n_ratings = models.PositiveIntegerField(
        default=0, help_text="ratings of this or an earlier wording"
    )
    set_aside = models.JSONField(default=list, blank=True)
    citations = models.JSONField(default=list, blank=True)
    had = models.JSONField(
        default=dict,
        blank=True,
        help_text="data that belong to this wording: citations, the position in a document",
    )
    replaced = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    author = models.CharField(  # noqa: DJ001 - null is not empty
        max_length=150,
        null=True,
        blank=True,
        editable=False,
        help_text="for an imported version: who edited the text there; null: edited on this site",
    )

    class Meta:
        ordering = ["-replaced", "-pk"]
        verbose_name = "earlier wording"
        verbose_name_plural = "earlier wordings"
        constraints = [
            models.CheckConstraint(
                condition=Q(text__isnull=True, question__isnull=False)
                | Q(text__isnull=False, question__isnull=True),
                name="version_of_one_thing",
            ),
            models.UniqueConstraint(
                fields=["text", "number"],
                condition=Q(text__isnull=False),
                name="text_version_number_unique",
            ),
            models.UniqueConstraint(
                fields=["question", "number"],
                condition=Q(question__isnull=False),
                name="question_version_number_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number} of {self.text or self.question}"

    def get_absolute_url(self) -> str:
        """Return the URL of the page that restores this wording."""
        entity = self.entity
        kind = "text" if isinstance(entity, Text) else "question"
        return reverse("version_restore", args=[self.dataset.slug, kind, entity.pk, self.number])

    @property
    def label(self) -> str:
        """Return the name of the text or the question."""
        entity = self.entity
        if isinstance(entity, Text):
            system = f", {entity.system}" if entity.system else ""
            return f"{entity.get_kind_display()} {entity.name}{system}"
        return f"topic {entity.topic}, sub-question {entity.number}"

    @property
    def told(self) -> str:
        """Sentence with the author and date of the edit, and the remedy."""
        when = f"{timezone.localtime(self.replaced):%-d %B %Y, %H:%M}"
        return f"{self.changed_by or 'A command'} edited {self.label}, on {when}. Restore that text first."

    @property
    def changed_by(self) -> str:
        """Author of the edit: an account, or a name of another site; empty for a command."""
        return self.author or (self.by.username if self.by else "")

    @property
    def entity(self) -> Text | SubQuestion:
        """Return the text or the question that had this wording."""
        entity = self.text or self.question
        assert entity is not None
        return entity
