"""Projects: which datasets belong together, and who sees them and may change them."""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotation.models.natural import ByNaturalKey, NaturalKey
from annotation.models.people import User, digest_of_token

MAIN = "main"
INVITED_FOR = timedelta(days=14)


class Role(models.TextChoices):
    """What a member may do. Each may also do what those before it may."""

    VIEWER = "viewer", "viewer"
    RESEARCHER = "researcher", "researcher"
    COORDINATOR = "coordinator", "coordinator of campaigns"
    OWNER = "owner", "owner"

    def reaches(self, other: "Role") -> bool:
        """Whether it may do what `other` may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


class ProjectQuerySet(ByNaturalKey, models.QuerySet["Project"]):
    def seen_by(self, user: User) -> "ProjectQuerySet":
        """An admin's are all, everybody else's those that they are in."""
        return self if user.is_admin else self.filter(memberships__user=user)

    def owned_by(self, user: User) -> "ProjectQuerySet":
        """Those whose data and members they may change."""
        if user.is_admin:
            return self
        return self.filter(memberships__user=user, memberships__role=Role.OWNER)


class Project(NaturalKey):
    """A group's studies. Who is no member does not learn that a dataset of it exists."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    created = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()
    NATURAL = ("slug",)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("project", args=[self.slug])

    def role_of(self, user: User) -> Role | None:
        """What somebody may do here; None for who is not in it. An admin of the site is an owner everywhere."""
        if user.is_admin:
            return Role.OWNER
        role = self.memberships.filter(user=user).values_list("role", flat=True).first()
        return Role(role) if role else None

    def lets(self, user: User, role: Role) -> bool:
        """Whether somebody may do here what this role may."""
        theirs = self.role_of(user)
        return theirs is not None and theirs.reaches(role)


def main_project() -> int:
    """The key of the project of datasets that are made without naming one. It is there when it is needed."""
    title = "Studies of this site"
    return Project.objects.get_or_create(slug=MAIN, defaults={"title": title})[0].pk


def join_main(user: User) -> None:
    """Let an account that a command makes see what the site has, if it is a researcher's."""
    if user.role == User.Role.RESEARCHER:
        Membership.objects.create(project_id=main_project(), user=user)


class Membership(models.Model):
    """Somebody's place in a project."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="memberships", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=11, choices=Role.choices, default=Role.RESEARCHER)
    joined = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user__username"]
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}"

    def change(self, role: str, by: User) -> None:
        """Another role; an empty one ends the membership."""
        with transaction.atomic():
            if role:
                self.role = role
                self.save(update_fields=["role"])
            else:
                self.delete()
            if role != Role.OWNER:  # nobody lets oneself in again
                self.project.invitations.open().filter(made_by=self.user).delete()
            detail = f"{self.user.username}, {'to ' + role if role else 'not in it any more'}"
            ProjectEntry.record(self.project, by, "changed a member", detail)


class InvitationQuerySet(models.QuerySet["Invitation"]):
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

    def open(self, now: datetime | None = None) -> "InvitationQuerySet":
        """Those that still let somebody in."""
        return self.filter(taken_by=None, expires__gt=now or timezone.now())

    def of_word(self, word: str) -> "Invitation | None":
        """The open one whose link ends in this word."""
        found = self.open().filter(digest=digest_of_token(word))
        return found.select_related("project", "made_by").first()


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

    def take(self, user: User) -> None:
        """Let somebody in, once. Who is in already keeps the role that may do more. In a transaction."""
        role, held = Role(self.role), self.project.memberships.filter(user=user).first()
        if held and not Role(held.role).reaches(role):
            held.role = role
            held.save(update_fields=["role"])
        elif not held:
            Membership.objects.create(project=self.project, user=user, role=role)
        self.taken_by = user
        self.save(update_fields=["taken_by"])
        ProjectEntry.record(self.project, user, "joined", f"as {role}, invited as {self.for_whom}")


class SharedLinkQuerySet(models.QuerySet["SharedLink"]):
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

    def open(self, now: datetime | None = None) -> "SharedLinkQuerySet":
        """Those that still show something."""
        return self.filter(expires__gt=now or timezone.now())

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

    def used(self) -> None:
        """Note that somebody reads by it, to the hour: not every page costs a write."""
        now = timezone.now()
        if self.last_used is None or now - self.last_used > timedelta(hours=1):
            self.last_used = now
            self.save(update_fields=["last_used"])


class ProjectEntry(models.Model):
    """What somebody did to a project or to data of it: never changed and never deleted.

    What staff do to a campaign is in LogEntry.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="log")
    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.SET_NULL, null=True, blank=True, related_name="log"
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    action = models.CharField(max_length=40)
    detail = models.TextField(blank=True)
    rows = models.JSONField(
        default=dict,
        blank=True,
        help_text="of an import: the first and last key that it may have made, by table; what it filled",
    )
    undoes = models.OneToOneField(
        "self", on_delete=models.RESTRICT, null=True, blank=True, related_name="undone_by"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.at:%F %H:%M} {self.action}"

    @property
    def of_dataset(self) -> str:
        return self.dataset.slug if self.dataset else ""

    @classmethod
    def record(
        cls,
        project: Project,
        by: User | None,
        action: str,
        detail: str = "",
        dataset: Any = None,
        **also: Any,
    ) -> "ProjectEntry":
        """Write down an act. `by` is None for what a command did; `also` are `rows`, or what it undoes."""
        return cls.objects.create(
            project=project, by=by, action=action, detail=detail, dataset=dataset, **also
        )


def seen_by(path: str, user: User) -> Q:
    """The condition that what `path` leads to, a dataset, is in a project of the user's."""
    return Q() if user.is_admin else Q(**{f"{path}__project__memberships__user": user})
