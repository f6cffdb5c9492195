"""Studies: which texts and questions are shown, to whom, and how far they are."""

from django.conf import settings
from django.db import models
from django.urls import reverse


class Campaign(models.Model):
    """A study: texts of a dataset, graded under one rubric by its participants.

    Items and their questions are drawn when it is made and stay as they are.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        CLOSED = "closed", "closed"

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.PROTECT, related_name="campaigns"
    )
    rubric = models.ForeignKey(
        "annotation.Rubric", on_delete=models.PROTECT, related_name="campaigns"
    )
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=6, choices=State.choices, default=State.OPEN)
    questions_per_item = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="drawn at random for each text; empty: all of them"
    )
    seed = models.PositiveIntegerField(default=1, help_text="of the draw, so that it can be redone")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("campaign", args=[self.slug])


class Item(models.Model):
    """A text of a campaign, with the questions that are asked about it."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="items", db_index=False
    )
    text = models.ForeignKey("annotation.Text", on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["campaign_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "text"], name="item_text_unique"),
            models.UniqueConstraint(fields=["campaign", "position"], name="item_position_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.text}"


class ItemQuestion(models.Model):
    """A question of an item: frozen, and the same for every rater."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="asked", db_index=False)
    question = models.ForeignKey(
        "annotation.SubQuestion", on_delete=models.PROTECT, related_name="asked_in"
    )
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "question"], name="item_question_unique"),
            models.UniqueConstraint(fields=["item", "position"], name="asked_position_unique"),
        ]

    def __str__(self) -> str:
        return str(self.question)


class Participant(models.Model):
    """A rater's stay in a campaign."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="participants", db_index=False
    )
    rater = models.ForeignKey("annotation.Rater", on_delete=models.PROTECT, related_name="stays")
    joined = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "rater"], name="participant_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.rater} in {self.campaign}"


class Assignment(models.Model):
    """An item lent to a participant."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "submitted"
        SKIPPED = "skipped", "skipped"

    participant = models.ForeignKey(
        Participant, on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="assignments")
    position = models.PositiveIntegerField(help_text="place in this participant's own order")
    state = models.CharField(max_length=9, choices=State.choices, default=State.OPEN)
    note = models.TextField(blank=True, help_text="why it was skipped, in the rater's words")
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["participant_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["participant", "item"], name="item_lent_once_to_a_participant"
            ),
            models.UniqueConstraint(
                fields=["participant", "position"], name="assignment_position_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participant}: {self.item.text}"

    def get_absolute_url(self) -> str:
        return reverse("work", args=[self.pk])
