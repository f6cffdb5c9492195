"""Links that owners give out: invitations into a project, and shared links to read a dataset by.

Such a link lasts no longer than its maker owns the project with an active account. That is asked whenever one
is used; and what ends the ownership revokes the links, so that they stay ended if it comes back.
"""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone

from annotation.models.people import User, digest_of_token
from annotation.models.projects import Membership, Project, ProjectEntry, Role

INVITED_FOR = timedelta(days=14)


def made_by_owner() -> Q:
    """Condition that the maker of a link is active and owns its project, as admins own all."""
    is_admin = Q(made_by__role=User.Role.ADMIN) | Q(made_by__is_superuser=True)
    owns = Membership.objects.filter(
        project=OuterRef("project"), user=OuterRef("made_by"), role=Role.OWNER
    )
    is_owner = Q(Exists(owns), made_by__role=User.Role.RESEARCHER)
    return Q(made_by__is_active=True) & (is_admin | is_owner)


class GivenQuerySet(models.QuerySet[Any]):
    """Links of either kind."""

    def pending(self, now: datetime | None = None) -> Self:
        """Return those whose time has not ended."""
        return self.filter(expires__gt=now or timezone.now())

    def open(self, now: datetime | None = None) -> Self:
        """Return those that work: their time has not ended, and their maker still owns the project."""
        return self.pending(now).filter(made_by_owner())

    def revoke_ownerless(self, by: User | None) -> int:
        """Revoke those whose maker is not an active owner any more; return how many."""
        working = self.open().values("pk")
        ended = list(self.pending().exclude(pk__in=working).select_related("project", "made_by"))
        for link in ended:
            link.revoke(by, f"{link.made_by or 'its maker'} does not own the project any more")
        return len(ended)


class InvitationQuerySet(GivenQuerySet):
    def make(self, project: Project, role: str, for_whom: str, by: User) -> str:
        """A new one. The word that its link ends in is returned, and can be read nowhere afterwards."""
        word = secrets.token_urlsafe(24)
        self.create(
            project=project,
            role=role,
            for_whom=for_whom,
            made_by=by,
            digest=digest_of_token(word),
            expires=timezone.now() + INVITED_FOR,
        )
        return word

    def pending(self, now: datetime | None = None) -> Self:
        """Return those that nobody has taken, and whose time has not ended."""
        return super().pending(now).filter(taken_by=None)

    def of_word(self, word: str) -> "Invitation | None":
        """The open one whose link ends in this word."""
        found = self.open().filter(digest=digest_of_token(word))
        return found.select_related("project", "made_by").first()

    def lock_word(self, word: str) -> "Invitation | None":
        """Return the open one of this word, its project locked until the transaction ends, or None.

        It is read again under the lock: of two who come by one link, the second finds it taken.
        """
        if invitation := self.of_word(word):
            Project.objects.lock(invitation.project_id)
            return self.of_word(word)
        return None


class Invitation(models.Model):
    """A link that lets one person into a project; of its word only the SHA-256 is here."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=11, choices=Role.choices, default=Role.RESEARCHER)
    for_whom = models.CharField("for", max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    taken_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["created", "pk"]

    def __str__(self) -> str:
        return self.for_whom

    def revoke(self, by: User | None, why: str = "") -> None:
        """Delete it; the log of the project keeps that, and why where it was not asked for."""
        detail = f"{self.for_whom}{f': {why}' if why else ''}"
        ProjectEntry.record(self.project, by, "revoked an invitation", detail)
        self.delete()

    def take(self, user: User) -> None:
        """Let somebody in, once. Who is in already keeps the role that may do more.

        In a transaction that has locked it by its word.
        """
        role, held = Role(self.role), self.project.memberships.filter(user=user).first()
        if held and not Role(held.role).reaches(role):
            held.role = role
            held.save(update_fields=["role"])
        elif not held:
            Membership.objects.create(project=self.project, user=user, role=role)
        self.taken_by = user
        self.save(update_fields=["taken_by"])
        ProjectEntry.record(self.project, user, "joined", f"as {role}, invited as {self.for_whom}")


class SharedLinkQuerySet(GivenQuerySet):
    def make(self, by: User, dataset: Any, days: int, **what: Any) -> str:
        """A new one. The word that its link ends in is returned, and can be read nowhere afterwards."""
        word = secrets.token_urlsafe(24)
        self.create(
            project=dataset.project,
            dataset=dataset,
            made_by=by,
            digest=digest_of_token(word),
            expires=timezone.now() + timedelta(days=days),
            **what,
        )
        return word

    def of_digests(self, digests: list[str]) -> "SharedLinkQuerySet":
        """The open ones among these, those with words first."""
        found = self.open().filter(digest__in=digests).order_by("-with_words", "pk")
        return found.select_related("project", "dataset", "made_by")


class SharedLink(models.Model):
    """A link by which anybody who has it reads a dataset, or one page of it, without an account.

    Of its word only the SHA-256 is here. One that is revoked is deleted; the log of the project keeps that.
    """

    SHARED, REVOKED = "shared", "revoked a shared link"  # in the log: acts that change no data

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="shared_links")
    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="shared_links"
    )
    address = models.CharField(
        max_length=2000,
        blank=True,
        help_text="path and query of the page; empty: all of the dataset",
    )
    with_words = models.BooleanField("with the words of texts and questions", default=False)
    for_whom = models.CharField("for", max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    last_used = models.DateTimeField(null=True, blank=True)

    objects = SharedLinkQuerySet.as_manager()

    class Meta:
        ordering = ["created", "pk"]

    def __str__(self) -> str:
        return self.for_whom

    @property
    def leads_to(self) -> str:
        return self.address or self.dataset.get_absolute_url()

    @property
    def as_of(self) -> datetime:
        """When the data last changed: the newest grade, or what the log of the dataset has last.

        A rating that is changed in place keeps the time of its first grade; the answer or the decision that
        changed it has its own.
        """
        answers = "participants__assignments__answers"
        counts = {f"{answers}__late": "", f"{answers}__question__isnull": False}
        of_raters = self.dataset.campaigns.filter(is_pilot=False)
        logged = self.dataset.log.exclude(action__in=(self.SHARED, self.REVOKED))
        times = (
            self.dataset.texts.aggregate(at=models.Max("ratings__created")),
            of_raters.aggregate(at=models.Max(f"{answers}__created", filter=Q(**counts))),
            of_raters.aggregate(at=models.Max("items__decisions__at")),
            logged.aggregate(at=models.Max("at")),
        )
        return max(filter(None, (self.dataset.created, *(time["at"] for time in times))))

    def revoke(self, by: User | None, why: str = "") -> None:
        """Delete it, so that it shows nothing from the next request on; the log of the project keeps that."""
        detail = f"for {self.for_whom}{f': {why}' if why else ''}"
        ProjectEntry.record(self.project, by, self.REVOKED, detail, self.dataset)
        self.delete()

    def used(self) -> None:
        """Note that somebody reads by it, to the hour: not every page costs a write."""
        now = timezone.now()
        if self.last_used is None or now - self.last_used > timedelta(hours=1):
            # Not `save`: an owner may revoke it meanwhile, which deletes the row.
            SharedLink.objects.filter(pk=self.pk).update(last_used=now)


@receiver(post_save, sender=User)
def revoke_given_access(
    instance: User, created: bool, raw: bool, update_fields: Collection[str] | None, **_: Any
) -> None:
    """Revoke what an account gave that is disabled or demoted: its links, and the tokens of its programs.

    A signal, since accounts are also disabled by commands and scripts.
    """
    decides = {"is_active", "role", "is_superuser"}
    if created or raw or (update_fields is not None and not decides & set(update_fields)):
        return
    with transaction.atomic():
        for kind in (Invitation, SharedLink):
            kind.objects.filter(made_by=instance).revoke_ownerless(instance.changed_by)
        if not (instance.is_active and instance.is_researcher):
            instance.api_tokens.all().delete()
