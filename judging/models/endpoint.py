"""Model servers of a project, the project's budget, and allowed hosts."""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation.models import Project
from judging.llm.server_presets import SERVER_PRESETS

PROJECT_PREFIX = "project:"  # of the name by which a run knows a server of its project
MOST_TOKENS = 2**62
MOST_MONEY = 10**12


class Endpoint(models.Model):
    """A server with OpenAI's chat completions API, and its encrypted key.

    The key is never displayed.
    """

    class KeyHeader(models.TextChoices):
        BEARER = "bearer", "Authorization: Bearer"
        API_KEY = "api-key", "api-key"
        X_API_KEY = "x-api-key", "x-api-key"

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="endpoints", db_index=False
    )
    name = models.CharField(
        max_length=40,
        validators=[
            RegexValidator(r"^[a-z0-9][a-z0-9._-]*\Z", "Lower-case letters, digits, - . and _.")
        ],
    )
    preset = models.CharField(
        max_length=20,
        blank=True,
        choices=[(name, preset.title) for name, preset in SERVER_PRESETS.items()],
    )
    url = models.CharField(max_length=200)
    key_header = models.CharField(
        max_length=10, choices=KeyHeader.choices, default=KeyHeader.BEARER
    )
    encrypted_key = models.TextField(blank=True, editable=False)
    headers = models.JSONField(default=dict, blank=True)
    params = models.JSONField(default=dict, blank=True)
    price_in = models.FloatField(
        default=0, validators=[MinValueValidator(0), MaxValueValidator(MOST_MONEY)]
    )
    price_out = models.FloatField(
        default=0, validators=[MinValueValidator(0), MaxValueValidator(MOST_MONEY)]
    )
    currency = models.CharField(
        max_length=3,
        blank=True,
        validators=[RegexValidator(r"^[A-Z]{3}\Z", "Three capital letters, such as EUR.")],
    )
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )

    class Meta:
        ordering = ["name"]
        verbose_name = "model server"
        verbose_name_plural = "model servers"
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="endpoint_name_unique")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def reference(self) -> str:
        """Return the name by which runs know it; the project's slug makes it unique."""
        return f"{PROJECT_PREFIX}{self.project.slug}/{self.name}"

    @property
    def has_key(self) -> bool:
        return bool(self.encrypted_key)

    @property
    def has_price(self) -> bool:
        return bool(self.price_in or self.price_out)


class ProjectBudget(models.Model):
    """Budget of a project for its own model servers, and what is spent of it.

    Counted here and not over runs: those go with their dataset, and what they took was paid for.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="judge_budget")
    max_tokens = models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MaxValueValidator(MOST_TOKENS)]
    )
    max_money = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(MOST_MONEY)]
    )
    currency = models.CharField(
        max_length=3,
        blank=True,
        validators=[RegexValidator(r"^[A-Z]{3}\Z", "Three capital letters, such as EUR.")],
    )
    spent_tokens = models.PositiveBigIntegerField(default=0, editable=False)
    spent_money = models.FloatField(default=0, editable=False)

    def __str__(self) -> str:
        return f"budget of {self.project}"

    @property
    def is_open(self) -> bool:
        """Return True if an admin has set a limit: without one nothing may be spent."""
        return self.max_tokens is not None or self.max_money is not None

    def exhausted(self) -> str:
        """Return the limit that is reached, in a sentence; "" while none is."""
        if not self.is_open:
            return f"{self.project} has no budget for its own model servers."
        if self.max_tokens is not None and self.spent_tokens >= self.max_tokens:
            return f"The budget of {self.project}, {self.max_tokens:,} tokens, is used up."
        if self.max_money is not None and self.spent_money >= self.max_money:
            limit = f"{self.max_money:,.2f} {self.currency}".rstrip()
            return f"The budget of {self.project}, {limit}, is used up."
        return ""

    @classmethod
    def charge(cls, pk: int, tokens: int, money: float) -> None:
        """Add to what is spent, atomically: several workers charge one budget."""
        if tokens or money:
            cls.objects.filter(pk=pk).update(
                spent_tokens=F("spent_tokens") + tokens, spent_money=F("spent_money") + money
            )


class OutboundPolicy(models.Model):
    """Policy for hosts of servers: any public host, or only listed ones. A single row."""

    allows_public_hosts = models.BooleanField(default=True)

    class Meta:
        verbose_name = "outbound policy"
        verbose_name_plural = "outbound policies"
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="one_outbound_policy")]

    def __str__(self) -> str:
        return "public hosts and listed ones" if self.allows_public_hosts else "listed hosts alone"

    @classmethod
    def current(cls) -> "OutboundPolicy":
        return cls.objects.filter(pk=1).first() or cls(pk=1)


class AllowedHost(models.Model):
    """A host where servers of projects may be, beside public and environment hosts."""

    host = models.CharField(max_length=253)
    port = models.PositiveIntegerField(
        default=0, validators=[MaxValueValidator(65_535)], help_text="0: any port"
    )
    allows_http = models.BooleanField(default=False)
    allows_private = models.BooleanField(default=False)
    created = models.DateTimeField(db_default=Now())
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )

    class Meta:
        ordering = ["host", "port"]
        constraints = [models.UniqueConstraint(fields=["host", "port"], name="allowed_host_unique")]

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.port else self.host

    def matches(self, host: str, port: int) -> bool:
        return self.host == host and self.port in (0, port)


def budget_of(project: Any) -> ProjectBudget:
    """Return the project's budget; a closed one, not stored, if an admin has set none."""
    return ProjectBudget.objects.filter(project=project).first() or ProjectBudget(project=project)
