"""Accounts and their roles."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """An account. Its role says which rooms of the site it may enter.

    An admin may do all that a researcher may; a worker sees own work alone.
    """

    class Role(models.TextChoices):
        ADMIN = "admin", "admin"
        RESEARCHER = "researcher", "researcher"
        WORKER = "worker", "worker"

    role = models.CharField(max_length=12, choices=Role.choices, default=Role.WORKER)
    is_guest = models.BooleanField(
        default=False, help_text="came by a link or from a platform: no password, one campaign"
    )

    @property
    def is_admin(self) -> bool:
        return self.role == self.Role.ADMIN or self.is_superuser

    @property
    def is_researcher(self) -> bool:
        """True for those who may read results: researchers and admins."""
        return self.is_admin or self.role == self.Role.RESEARCHER
