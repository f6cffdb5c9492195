"""Runs of a judge, their shards, and the batches of stored replies."""

from typing import Any

from django.db import models
from django.db.models import Q, Sum
from django.db.models.functions import Now
from django.urls import reverse

from annotation.models import User
from annotation.models.projects import visibility_filter
from judging.execution.models import Leased, ModelRun, Spending, lease_is_whole
from judging.grading.variants import TITLES


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    def visible_to(self, user: User) -> "JudgeRunQuerySet":
        """Return runs on datasets of the user's projects; all runs for an admin."""
        return self.filter(visibility_filter("dataset", user))


class JudgeRun(ModelRun):
    """A run of a judge on the pairs of a selection that it lacks, or a test of the judge.

    A test asks again about pairs that the judge has graded, `repeats` times or under a changed prompt.
    Its replies are JudgeTestReply rows; `selection` has the size and the seed of its sample.
    """

    KIND = "Judge run"
    BUDGET_UNIT = "pair"

    judge = models.ForeignKey("judging.Judge", on_delete=models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="judge_runs"
    )
    test = models.CharField(
        max_length=20,
        blank=True,
        choices=[(test.value, title) for test, title in TITLES.items()],
        help_text="test of the judge; empty: an ordinary run",
    )
    repeats = models.PositiveSmallIntegerField(
        default=1, help_text="number of times that a test asks about each pair"
    )
    n_unchanged = models.PositiveIntegerField(
        default=0, help_text="pairs left out of a test, as it would not change their prompt"
    )
    max_pairs = models.PositiveIntegerField(null=True, blank=True)
    n_without_words = models.PositiveIntegerField(default=0)
    reply_seconds = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="time limit of a reply; empty: chosen by the judge and its servers",
    )
    current_concurrency = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="simultaneous requests that the servers accept, as last reported",
    )
    planning_until = models.DateTimeField(
        null=True, blank=True, help_text="end of the lease of the process that plans the run"
    )

    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            # Two plans of one judge would hold the same missing pairs. A test asks about others.
            models.UniqueConstraint(
                fields=["judge", "dataset", "test"],
                condition=Q(state__in=["planning", "running", "paused"]),
                name="one_open_run_of_a_judge",
            ),
        ]

    def __str__(self) -> str:
        return f"judge run {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("judge_run", args=[self.pk])

    @property
    def is_retry(self) -> bool:
        """Return whether it repeats failed pairs, rather than asking about new ones."""
        return bool(self.selection.get("retry"))

    @property
    def parts(self) -> models.QuerySet[Any]:
        return self.shards.all()

    @property
    def max_requests(self) -> int | None:
        return self.max_pairs

    def is_being_planned(self) -> bool:
        """Return whether somebody plans it now, or did so shortly before."""
        planned = JudgeRun.objects.filter(
            pk=self.pk, state=self.State.PLANNING, planning_until__gte=Now()
        )
        return planned.exists()

    def spending(self) -> Spending:
        """Sum up the pairs and tokens paid for, also where another reply was stored first."""
        sums = self.batches.aggregate(
            requests=Sum("n_sent", default=0),
            prompt_tokens=Sum("prompt_tokens", default=0),
            completion_tokens=Sum("completion_tokens", default=0),
        )
        return Spending(**sums)


class Shard(Leased):
    """Some two thousand pairs of a run, leased to one worker at a time.

    `groups` is [[text keys, question keys], ...]: each question is asked about the first text, and the
    reply holds for the others, which would be asked alike. In a test each group has the number of the
    repeat, too: [[text keys, question keys, repeat], ...].
    """

    run = models.ForeignKey(
        JudgeRun, on_delete=models.CASCADE, related_name="shards", db_index=False
    )
    n_pairs = models.PositiveIntegerField()
    groups = models.JSONField()  # last in the table: SQLite reads past it to what is behind

    class Meta:
        ordering = ["run_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="shard_number_unique"),
            lease_is_whole("shard_lease_has_owner_and_end"),
        ]
        indexes = [
            models.Index(
                fields=["run", "number"], condition=~Q(state="done"), name="shards_that_are_left"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.number}"


class Batch(models.Model):
    """Replies that a worker stored at once: the log behind progress, rate and spending.

    `shard` is None where nothing was asked: replies copied to a text that is asked alike while planning,
    and those that another site made. Its numbers count the attempts that were new.
    """

    run = models.ForeignKey(
        JudgeRun, on_delete=models.CASCADE, related_name="batches", db_index=False
    )
    shard = models.ForeignKey(
        Shard, on_delete=models.CASCADE, related_name="batches", null=True, db_index=False
    )
    worker = models.CharField(max_length=120)
    created = models.DateTimeField(db_default=Now())
    n_sent = models.PositiveIntegerField(default=0, help_text="pairs sent to the grader")
    n_attempts = models.PositiveIntegerField(default=0)
    n_graded = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    n_expected = models.PositiveIntegerField(default=0, help_text="replies with an expected grade")
    sum_drift = models.FloatField(default=0, help_text="sum of expected grade minus grade")

    class Meta:
        ordering = ["id"]
        verbose_name = "batch of replies"
        verbose_name_plural = "batches of replies"
        indexes = [models.Index(fields=["run", "created"], name="batches_of_a_run")]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.n_attempts} by {self.worker}"
