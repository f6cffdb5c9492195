"""Generation runs of a writer: the run, its orders, and every reply."""

from typing import Any

from django.db import models
from django.db.models import Q, Sum
from django.db.models.functions import Now
from django.urls import reverse

from judging.execution.models import Leased, ModelRun, Spending, lease_is_whole


class Writing(ModelRun):
    """A generation run: a writer's orders for what a selection of the dataset lacks."""

    KIND = "Generation run"
    BUDGET_UNIT = "message"

    writer = models.ForeignKey("building.Writer", on_delete=models.PROTECT, related_name="writings")
    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="writings"
    )
    max_messages = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "generation run"
        verbose_name_plural = "generation runs"
        constraints = [
            models.UniqueConstraint(
                fields=["writer", "dataset"],
                condition=Q(state__in=["planning", "running", "paused"]),
                name="one_open_writing_of_a_writer",
            ),
        ]

    def __str__(self) -> str:
        return f"writing {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("writing", args=[self.dataset.slug, self.pk])

    @property
    def parts(self) -> models.QuerySet[Any]:
        # With the inputs of its message: a worker takes orders one by one.
        return self.orders.select_related("topic", "document")

    @property
    def max_requests(self) -> int | None:
        return self.max_messages

    def spending(self) -> Spending:
        drafts = Draft.objects.filter(order__run=self)
        sums = drafts.aggregate(
            prompt_tokens=Sum("prompt_tokens", default=0),
            completion_tokens=Sum("completion_tokens", default=0),
        )
        return Spending(requests=drafts.count(), **sums)


class Order(Leased):
    """A generation order, such as the questions of a topic or the passages of a document.

    `messages_hash` is that of the message that asks for it first, so that a writer never writes the same
    twice; `sample` tells apart what is wanted several times. `inputs` are the keys and numbers that the
    message is made of. `failure` is why its last draft is not what was asked for, and `missing` how many
    are still to be had.
    """

    run = models.ForeignKey(
        Writing, on_delete=models.CASCADE, related_name="orders", db_index=False
    )
    writer = models.ForeignKey(
        "building.Writer", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    topic = models.ForeignKey("annotation.Topic", on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(
        "annotation.Document", on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    inputs = models.JSONField(default=dict)
    messages_hash = models.CharField(max_length=16)
    sample = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=25, blank=True)
    missing = models.PositiveSmallIntegerField(default=0)
    tries_left = models.PositiveSmallIntegerField(default=2, help_text="remaining attempts")
    n_left_out = models.PositiveIntegerField(
        default=0, help_text="passages that did not fit into the context window"
    )

    class Meta:
        ordering = ["run_id", "number"]
        verbose_name = "generation task"
        verbose_name_plural = "generation tasks"
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="order_number_unique"),
            models.UniqueConstraint(
                fields=["writer", "topic", "messages_hash", "sample"], name="nothing_written_twice"
            ),
            lease_is_whole("order_lease_has_owner_and_end"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.number}"


class Draft(models.Model):
    """A reply to an order, unchanged. `failure` is "" if it is usable."""

    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, related_name="drafts", db_index=False
    )
    number = models.PositiveSmallIntegerField(help_text="from 1")
    counts = models.BooleanField(
        default=True, help_text="false if another worker's reply to the same task was stored first"
    )
    worker = models.CharField(max_length=120)
    created = models.DateTimeField(db_default=Now())
    raw = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    prompt_hash = models.CharField(max_length=16, blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    failure = models.CharField(max_length=25, blank=True)
    detail = models.CharField(max_length=500, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["order_id", "number"]
        verbose_name = "reply of a writer"
        verbose_name_plural = "replies of writers"
        constraints = [
            models.UniqueConstraint(
                fields=["order", "number"], condition=Q(counts=True), name="draft_number_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.order_id}: {self.failure or 'written'}"
