"""One filling of cells: a run, its shards, and the batches that were written."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q, Sum
from django.db.models.functions import Now
from django.urls import reverse

from annotation.models import User
from annotation.models.projects import seen_by
from judging.models.endpoint import ProjectBudget
from judging.models.leased import Leased, lease_is_whole

PARTED_BY = "|"  # servers of one endpoint: a sign that no address may hold


@dataclass(frozen=True)
class Spent:
    """What was asked and paid for: messages, or the pairs in them, and tokens."""

    asked: int
    prompt_tokens: int
    completion_tokens: int


class ModelRun(models.Model):
    """A model at work for a dataset, in parts that workers take one by one.

    Workers take part while it is `running`. Whatever ends it, all that came so far is kept.
    """

    class State(models.TextChoices):
        PLANNING = "planning", "planning"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        CANCELLED = "cancelled", "cancelled"
        STOPPED = "stopped", "stopped at its budget"
        FINISHED = "finished", "finished"

    OPEN = (State.PLANNING, State.RUNNING, State.PAUSED)
    RESUMABLE = (State.PAUSED, State.CANCELLED, State.STOPPED)
    KIND = "Run"  # how people call it
    ASKED = "messages"  # what its budget counts

    state = models.CharField(max_length=10, choices=State.choices, default=State.PLANNING)
    note = models.CharField(max_length=500, blank=True, help_text="why it is in this state")
    put_aside = models.JSONField(
        default=dict, blank=True, help_text="servers that are asked no more, and why, by address"
    )
    selection = models.JSONField(default=dict, help_text="which texts, as they were asked for")
    endpoint = models.CharField(
        max_length=250, blank=True, help_text="names from JUDGE_ENDPOINTS, or URLs, parted by |"
    )
    concurrency = models.PositiveSmallIntegerField(
        default=64, help_text="requests at once, a worker"
    )
    workers = models.PositiveSmallIntegerField(default=1, help_text="background workers asked for")
    max_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    max_money = models.FloatField(null=True, blank=True)
    price_in = models.FloatField(default=0, help_text="of a million prompt tokens")
    price_out = models.FloatField(default=0, help_text="of a million completion tokens")
    currency = models.CharField(max_length=3, blank=True)
    n_planned = models.PositiveIntegerField(default=0)
    n_there_before = models.PositiveIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    started = models.DateTimeField(null=True, blank=True)
    ended = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def parts(self) -> models.QuerySet[Any]:
        """What workers take: rows of a model that is Leased."""
        raise NotImplementedError

    @property
    def most_asked(self) -> int | None:
        """How much it may ask at most, in what ASKED says."""
        raise NotImplementedError

    def spent(self) -> Spent:
        raise NotImplementedError

    def exhausted_project_budget(self) -> str:
        """The reason why the project's budget allows no more; "" while it does, or if none is charged."""
        return ""

    def is_being_planned(self) -> bool:
        """Whether somebody plans it now: not where parts are made at once, with the run."""
        return False

    @property
    def called(self) -> str:
        """How people name it: "Judge run 5"."""
        return f"{self.KIND} {self.pk}"

    @property
    def server(self) -> str:
        """The endpoint as others read it: an address stays with the machine that was given it."""
        parts = self.endpoint.split(PARTED_BY)
        names = [part for part in parts if "://" not in part]
        n = len(parts) - len(names)
        given = {0: [], 1: ["given by its address"]}.get(n, [f"{n} given by their addresses"])
        return " and ".join([*names, *given])

    @property
    def is_running(self) -> bool:
        return self.state == self.State.RUNNING

    @property
    def is_resumable(self) -> bool:
        return self.state in self.RESUMABLE

    def money(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What tokens cost at the run's prices, which are per million."""
        return (prompt_tokens * self.price_in + completion_tokens * self.price_out) / 1_000_000


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    def seen_by(self, user: User) -> "JudgeRunQuerySet":
        """Those on datasets of the projects that somebody is in; an admin's are all."""
        return self.filter(seen_by("dataset", user))


class JudgeRun(ModelRun):
    """A judge asked for the pairs of a selection that it lacks."""

    KIND = "Judge run"
    ASKED = "pairs"

    judge = models.ForeignKey("judging.Judge", on_delete=models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="judge_runs"
    )
    project_budget = models.ForeignKey(
        "judging.ProjectBudget",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="runs",
        help_text="that is charged, for a run on a server of its project",
    )
    max_pairs = models.PositiveIntegerField(null=True, blank=True)
    n_without_words = models.PositiveIntegerField(default=0)
    reply_seconds = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="that a reply may take; empty: by the judge and its servers",
    )
    current_concurrency = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="requests at once that the servers take, as last reported"
    )
    planning_until = models.DateTimeField(
        null=True, blank=True, help_text="whoever plans it holds it until then"
    )

    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            # Two plans of one judge would hold the same missing pairs.
            models.UniqueConstraint(
                fields=["judge", "dataset"],
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
        """Whether it asks again for pairs that failed, rather than for those never asked."""
        return bool(self.selection.get("retry"))

    @property
    def parts(self) -> models.QuerySet[Any]:
        return self.shards.all()

    @property
    def most_asked(self) -> int | None:
        return self.max_pairs

    def is_being_planned(self) -> bool:
        """Whether somebody plans it now, or did so shortly before."""
        planned = JudgeRun.objects.filter(
            pk=self.pk, state=self.State.PLANNING, planning_until__gte=Now()
        )
        return planned.exists()

    def exhausted_project_budget(self) -> str:
        if self.project_budget_id is None:
            return ""
        budgets = ProjectBudget.objects.select_related("project")
        return budgets.get(pk=self.project_budget_id).exhausted()

    def spent(self) -> Spent:
        """Pairs whose reply was paid for, whether or not another was there first."""
        sums = self.batches.aggregate(
            asked=Sum("n_sent", default=0),
            prompt_tokens=Sum("prompt_tokens", default=0),
            completion_tokens=Sum("completion_tokens", default=0),
        )
        return Spent(**sums)


class Shard(Leased):
    """Some two thousand pairs of a run, lent to one worker at a time.

    `groups` is [[text keys, question keys], ...]: each question is asked about the first text, and the
    reply holds for the others, which would be asked alike.
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
    """What one worker wrote at once: the log from which progress, rate and spending are read.

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
    n_expected = models.PositiveIntegerField(default=0, help_text="graded with an expected grade")
    sum_drift = models.FloatField(default=0, help_text="sum of expected grade minus grade")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["run", "created"], name="batches_of_a_run")]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.n_attempts} by {self.worker}"
