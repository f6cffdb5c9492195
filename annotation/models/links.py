"""Links that owners create: project invitations, and shared links for reading a dataset.

A link works only while its creator owns the project with an active account. That is checked at each
use; ending the ownership revokes the links, so that they stay revoked if it comes back.
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

INVITATION_LIFETIME = timedelta(days=14)


def made_by_owner() -> Q:
    """Return the condition that a link's creator is active and owns its project, as admins do."""
    is_admin = Q(made_by__role=User.Role.ADMIN) | Q(made_by__is_superuser=True)
    owns = Membership.objects.filter(
        project=OuterRef("project"), user=OuterRef("made_by"), role=Role.OWNER
    )
    is_owner = Q(Exists(owns), made_by__role=User.Role.RESEARCHER)
    return Q(made_by__is_active=True) & (is_admin | is_owner)


class LinkQuerySet(models.QuerySet[Any]):
    """Links of either kind."""

    def pending(self, now: datetime | None = None) -> Self:
        """Return links that have not expired."""
        return self.filter(expires__gt=now or timezone.now())

    def open(self, now: datetime | None = None) -> Self:
        """Return valid links: not expired, and their creator still owns the project."""
        return self.pending(now).filter(made_by_owner())

    def revoke_ownerless(self, by: User | None) -> int:
        """Revoke links whose creator is no longer an active owner; return their number."""
        working = self.open().values("pk")
        ended = list(self.pending().exclude(pk__in=working).select_related("project", "made_by"))
        for link in ended:
            link.revoke(by, f"{link.made_by or 'its maker'} does not own the project any more")
        return len(ended)


class InvitationQuerySet(LinkQuerySet):
    def make(self, project: Project, role: str, for_whom: str, by: User) -> str:
        """Create an invitation and return its secret token, which is not stored."""
        token = secrets.token_urlsafe(24)
        self.create(
            project=project,
            role=role,
            for_whom=for_whom,
            made_by=by,
            digest=digest_of_token(token),
            expires=timezone.now() + INVITATION_LIFETIME,
        )
        return token

    def pending(self, now: datetime | None = None) -> Self:
        """Return invitations that are neither accepted nor expired."""
        return super().pending(now).filter(taken_by=None)

    def of_token(self, token: str) -> "Invitation | None":
        """Return the open invitation with this token, or None."""
        invitations = self.open().filter(digest=digest_of_token(token))
        return invitations.select_related("project", "made_by").first()

    def lock_token(self, token: str) -> "Invitation | None":
        """Return the open invitation with this token, its project locked, or None.

        The lock lasts until the transaction ends. The invitation is read again under it: of two
        people who use one link, the second finds it accepted.
        """
        if invitation := self.of_token(token):
            Project.objects.lock(invitation.project_id)
            return self.of_token(token)
        return None


class Invitation(models.Model):
    """Invitation of one person into a project; only the SHA-256 of its token is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=11, choices=Role.choices, default=Role.RESEARCHER)
    for_whom = models.CharField("label", max_length=80)
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

    def revoke(self, by: User | None, reason: str = "") -> None:
        """Delete the invitation, and log that, with the reason if it was not revoked by hand."""
        detail = f"{self.for_whom}{f': {reason}' if reason else ''}"
        ProjectEntry.record(self.project, by, "revoked an invitation", detail)
        self.delete()

    def accept(self, user: User) -> None:
        """Add the user to the project; a member keeps the higher role. Only once.

        In a transaction that has locked it by its token.
        """
        role, membership = Role(self.role), self.project.memberships.filter(user=user).first()
        if membership and not Role(membership.role).includes(role):
            membership.role = role
            membership.save(update_fields=["role"])
        elif not membership:
            Membership.objects.create(project=self.project, user=user, role=role)
        self.taken_by = user
        self.save(update_fields=["taken_by"])
        ProjectEntry.record(self.project, user, "joined", f"as {role}, invited as {self.for_whom}")


class SharedLinkQuerySet(LinkQuerySet):
    def make(self, by: User, dataset: Any, days: int, **fields: Any) -> str:
        """Create a shared link and return its secret token, which is not stored."""
        token = secrets.token_urlsafe(24)
        self.create(
            project=dataset.project,
            dataset=dataset,
            made_by=by,
            digest=digest_of_token(token),
            expires=timezone.now() + timedelta(days=days),
            **fields,
        )
        return token

    def of_digests(self, digests: list[str]) -> "SharedLinkQuerySet":
        """Return the open links with these digests, those that show text bodies first."""
        links = self.open().filter(digest__in=digests).order_by("-with_words", "pk")
        return links.select_related("project", "dataset", "made_by")


class SharedLink(models.Model):
    """Link for reading a dataset, or one page of it, without an account.

    Only the SHA-256 of its token is stored. Revoking deletes it; the project's log records that.
    """

    SHARED, REVOKED = "shared", "revoked a shared link"  # in the log: acts that change no data

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="shared_links")
    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="shared_links"
    )
    address = models.CharField(
        max_length=2000,
        blank=True,
        help_text="path and query of the page; empty: all pages of the dataset",
    )
    with_words = models.BooleanField("include texts and questions", default=False)
    for_whom = models.CharField("label", max_length=80)
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
        """Return the time of the last change of the data: newest grade or log entry.

        A rating that is changed in place keeps the time of its first grade; the answer or the
        decision that changed it has its own.
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

    def revoke(self, by: User | None, reason: str = "") -> None:
        """Delete the link, effective with the next request, and log that."""
        detail = f"for {self.for_whom}{f': {reason}' if reason else ''}"
        ProjectEntry.record(self.project, by, self.REVOKED, detail, self.dataset)
        self.delete()

    def used(self) -> None:
        """Update `last_used`, at most once an hour to save writes."""
        now = timezone.now()
        if self.last_used is None or now - self.last_used > timedelta(hours=1):
            # Not `save`: an owner may revoke it meanwhile, which deletes the row.
            SharedLink.objects.filter(pk=self.pk).update(last_used=now)


@receiver(post_save, sender=User)
def revoke_given_access(
    instance: User, created: bool, raw: bool, update_fields: Collection[str] | None, **_: Any
) -> None:
    """Revoke links and API tokens that a disabled or demoted account has given.

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
