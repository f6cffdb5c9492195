"""What is lent to one worker at a time, until its lease runs out."""

from django.db import models
from django.db.models import Q


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
    """Who holds a lease is known, and until when; who holds none has no end of it."""
    return models.CheckConstraint(
        condition=Q(state="leased", expires__isnull=False) & ~Q(owner="")
        | (~Q(state="leased") & Q(expires__isnull=True)),
        name=name,
    )
