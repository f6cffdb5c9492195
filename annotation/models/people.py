"""Accounts, their roles, and API tokens."""

import hashlib
import secrets
from datetime import datetime

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone


class User(AbstractUser):
    """An account. Its role says which sections of the site it may enter.

    An admin may do all that a researcher may; a worker sees only their own work.
    """

    class Role(models.TextChoices):
        ADMIN = "admin", "admin"
        RESEARCHER = "researcher", "researcher"
        WORKER = "worker", "worker"

    role = models.CharField(max_length=12, choices=Role.choices, default=Role.WORKER)
    role_here = ""  # in the project that a request is about; crux_site.projects.guard tells it
    changed_by: "User | None" = None  # who changes this account now, for the logs of what that ends
    is_guest = models.BooleanField(
        default=False,
        help_text="joined by a link or from a recruitment platform: no password, one campaign",
    )

    @property
    def is_admin(self) -> bool:
        return self.role == self.Role.ADMIN or self.is_superuser

    @property
    def is_researcher(self) -> bool:
        """True if the account may read results: a researcher or an admin."""
        return self.is_admin or self.role == self.Role.RESEARCHER

    @property
    def runs_campaigns(self) -> bool:
        """True if the account may change campaigns of the request's dataset."""
        return self.is_admin or self.role_here in ("coordinator", "owner")

    @property
    def owns_any_project(self) -> bool:
        """True if the account may create datasets, rubrics and judges in some project."""
        return self.is_admin or self.memberships.filter(role="owner").exists()

    @property
    def owns(self) -> bool:
        """True if the account may change the data and members of the request's project."""
        return self.is_admin or self.role_here == "owner"


def digest_of_token(key: str) -> str:
    """Return the SHA-256 of a token, as stored.

    Tokens are random and long, so that no slow password hash is needed.
    """
    return hashlib.sha256(key.encode()).hexdigest()


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def make(self, user: User, name: str, expires: datetime | None = None) -> str:
        """Create a token of an account, and return its key, which is not stored."""
        key = secrets.token_urlsafe(32)
        self.create(user=user, name=name, digest=digest_of_token(key), expires=expires)
        return key


class ApiToken(models.Model):
    """API token of an account, with a name; only the SHA-256 of its key is stored."""

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="api_tokens", db_index=False
    )
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["created", "pk"]
        verbose_name = "API token"
        verbose_name_plural = "API tokens"
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="api_token_name_unique")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_expired(self) -> bool:
        return self.expires is not None and self.expires <= timezone.now()


class RequestCount(models.Model):
    """Number of requests of an account or address; `annotation.throttling` writes it."""

    key = models.CharField(primary_key=True, max_length=64)
    window_end = models.FloatField(help_text="seconds since 1970")
    number = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.number} until {self.window_end:.0f}"
