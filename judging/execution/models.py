"""Abstract models of runs of a model on a dataset, and of their parts that workers lease."""

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Q

ENDPOINT_SEPARATOR = "|"  # servers of one endpoint: a sign that no address may hold


@dataclass(frozen=True)
class Spending:
    """Requests and tokens paid for.

    `requests` counts messages, or the pairs in them.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int


class ModelRun(models.Model):
    """A run of a model on a dataset, in parts that workers take one by one.

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
    BUDGET_UNIT = "message"  # what its budget counts

    state = models.CharField(max_length=10, choices=State.choices, default=State.PLANNING)
    note = models.CharField(max_length=500, blank=True, help_text="why it is in this state")
    put_aside = models.JSONField(
        default=dict,
        blank=True,
        help_text="servers that are no longer used, with the reason, by address",
    )
    selection = models.JSONField(default=dict, help_text="requested selection of texts")
    endpoint = models.CharField(
        max_length=250, blank=True, help_text="names from JUDGE_ENDPOINTS, or URLs, separated by |"
    )
    concurrency = models.PositiveSmallIntegerField(
        default=64, help_text="simultaneous requests of each worker"
    )
    workers = models.PositiveSmallIntegerField(
        default=1, help_text="requested number of background workers"
    )
    max_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    max_money = models.FloatField(null=True, blank=True)
    project_budget = models.ForeignKey(
        "judging.ProjectBudget",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="budget to charge if the run uses a server of its project",
    )
    price_in = models.FloatField(default=0, help_text="price of a million prompt tokens")
    price_out = models.FloatField(default=0, help_text="price of a million completion tokens")
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
        """Return the parts that workers take: rows of a model that is Leased."""
        raise NotImplementedError

    @property
    def max_requests(self) -> int | None:
        """Return the limit of requests, in the unit that BUDGET_UNIT names; None without one."""
        raise NotImplementedError

    def spending(self) -> Spending:
        raise NotImplementedError

    def exhausted_project_budget(self) -> str:
        """Return why the project's budget allows no more; "" while it does.

        Also "" if no budget is charged.
        """
        if self.project_budget_id is None:
            return ""
        budgets: Any = apps.get_model("judging", "ProjectBudget").objects.select_related("project")
        return str(budgets.get(pk=self.project_budget_id).exhausted())

    def is_being_planned(self) -> bool:
        """Return whether somebody plans it now.

        Never so where the parts are created with the run.
        """
        return False

    @property
    def display_name(self) -> str:
        """Return the displayed name: "Judge run 5"."""
        return f"{self.KIND} {self.pk}"

    @property
    def server(self) -> str:
        """Return the endpoint for display, with addresses hidden: they stay on their machine."""
        parts = self.endpoint.split(ENDPOINT_SEPARATOR)
        names = [part for part in parts if "://" not in part]
        n = len(parts) - len(names)
        addresses = {0: [], 1: ["given by its address"]}.get(n, [f"{n} given by their addresses"])
        return " and ".join([*names, *addresses])

    @property
    def is_running(self) -> bool:
        return self.state == self.State.RUNNING

    @property
    def is_resumable(self) -> bool:
        return self.state in self.RESUMABLE

    def money(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of tokens at the run's prices, which are per million."""
        return (prompt_tokens * self.price_in + completion_tokens * self.price_out) / 1_000_000


class Leased(models.Model):
    """A part of a run. A lease that expired is open to anybody."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        LEASED = "leased", "leased"
        DONE = "done", "done"

    number = models.PositiveIntegerField(help_text="from 1")
    state = models.CharField(max_length=6, choices=State.choices, default=State.OPEN)
    owner = models.CharField(max_length=120, blank=True)
    expires = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


def lease_is_whole(name: str) -> models.CheckConstraint:
    """Return the constraint that a lease has an owner and an expiry, and only a lease."""
    return models.CheckConstraint(
        condition=Q(state="leased", expires__isnull=False) & ~Q(owner="")
        | (~Q(state="leased") & Q(expires__isnull=True)),
        name=name,
    )
