"""Items of campaigns: texts and questions, with their wording as raters saw it."""

from copy import copy

from django.db import models
from django.urls import reverse

from annotation.models.campaign import Campaign
from annotation.models.corpus import SubQuestion, Text, digest


class Item(models.Model):
    """A text of a campaign, with the questions that are asked about it."""

    class Purpose(models.TextChoices):
        STUDY = "study", "study"
        TRAINING = "training", "training"
        GOLD = "gold", "gold"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="items", db_index=False
    )
    text = models.ForeignKey("annotation.Text", on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField()
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.STUDY)
    shown_body = models.TextField(  # noqa: DJ001 - missing is not empty
        null=True,
        editable=False,
        help_text="wording that raters saw, if the text was edited since",
    )

    class Meta:
        ordering = ["campaign_id", "position"]
        indexes = [models.Index(fields=["campaign", "purpose"], name="item_purpose")]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "text"], name="item_text_unique"),
            models.UniqueConstraint(fields=["campaign", "position"], name="item_position_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.text}"

    def as_shown(self) -> Text:
        """Return a copy of the text with the wording that raters saw. Never save it."""
        return _text_with(self.text, self.shown_body)


def _text_with(text: Text, shown_body: str | None) -> Text:
    if shown_body is None:
        return text
    text = copy(text)
    text.body, text.sha256 = shown_body, digest(shown_body)
    return text


class EqualText(models.Model):
    """A text with the words of an item's text: it gets copies of the item's grades.

    Its words differ in white space at the ends at most when the campaign opens. Later edits of either text
    are edits of that text alone.
    """

    item = models.ForeignKey(
        Item, on_delete=models.CASCADE, related_name="equal_texts", db_index=False
    )
    text = models.ForeignKey(
        "annotation.Text", on_delete=models.PROTECT, related_name="equal_in_items"
    )
    shown_body = models.TextField(  # noqa: DJ001 - missing is not empty
        null=True,
        editable=False,
        help_text="wording in the campaign, if the text was edited since",
    )

    class Meta:
        ordering = ["item_id", "text_id"]
        verbose_name = "text of equal words"
        verbose_name_plural = "texts of equal words"
        constraints = [
            models.UniqueConstraint(fields=["item", "text"], name="equal_text_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.text}, as {self.item}"

    def campaign_text(self) -> Text:
        """Return a copy of the text with the wording that it had in the campaign. Never save it."""
        return _text_with(self.text, self.shown_body)


class ItemQuestion(models.Model):
    """A question of an item: frozen, and the same for every rater."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="asked", db_index=False)
    question = models.ForeignKey(
        "annotation.SubQuestion", on_delete=models.PROTECT, related_name="asked_in"
    )
    position = models.PositiveSmallIntegerField()
    expected = models.SmallIntegerField(
        null=True, blank=True, help_text="for training and gold items: the grade of the gold source"
    )
    expected_spans = models.JSONField(default=list, blank=True)
    expected_reason = models.TextField(
        blank=True, help_text="reason for the correct grade, displayed after the item is submitted"
    )
    answer = models.JSONField(
        default=list,
        blank=True,
        help_text="answer of the pair, displayed if a rubric shows answers",
    )
    further = models.JSONField(
        default=dict,
        blank=True,
        help_text="correct grades under further rubrics, by slug: {expected, expected_spans, expected_reason}",
    )
    shown_body = models.TextField(  # noqa: DJ001 - missing is not empty
        null=True,
        editable=False,
        help_text="wording that raters saw, if the question was edited since",
    )

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "question"], name="item_question_unique"),
            models.UniqueConstraint(fields=["item", "position"], name="asked_position_unique"),
        ]

    def __str__(self) -> str:
        return str(self.question)

    def as_shown(self) -> SubQuestion:
        """Return a copy of the question with the wording that raters saw. Never save it."""
        if self.shown_body is None:
            return self.question
        question = copy(self.question)
        question.body = self.shown_body
        return question

    def other_words_url(self) -> str:
        """Return the history URL of its text or question if edited since raters saw it, else ""."""
        dataset = self.item.text.dataset.slug
        if self.item.shown_body is not None:
            return reverse("text_history", args=[dataset, "text", self.item.text_id])
        if self.shown_body is not None:
            return reverse("text_history", args=[dataset, "question", self.question_id])
        return ""
