"""Projects: groups of datasets, with members who may see or change them."""

from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse

from annotation.errors import UserError
from annotation.models.natural import ByNaturalKey, NaturalKey
from annotation.models.people import User

MAIN = "main"


class Role(models.TextChoices):
    """Role of a project member. Each includes the rights of those before it."""

    VIEWER = "viewer", "viewer"
    RESEARCHER = "researcher", "researcher"
    COORDINATOR = "coordinator", "campaign coordinator"
    OWNER = "owner", "owner"

    def includes(self, role: "Role") -> bool:
        """Return whether this role includes the rights of another."""
        roles = list(Role)
        return roles.index(self) >= roles.index(role)


class MembershipError(UserError):
    """Refused change of members; the message can be shown to a person."""


class ProjectQuerySet(ByNaturalKey, models.QuerySet["Project"]):
    def lock(self, pk: int) -> "Project":
        """Return a project, locked until the transaction ends.

        Every change of its members takes this lock before it reads them, so that two changes at the
        same moment see each other. Rows that only refer to the project can be stored meanwhile.
        """
        return self.select_for_update(no_key=True).get(pk=pk)

    def lock_those_of(self, user: User) -> "list[Project]":
        """Return an account's projects, locked likewise, always in the same order."""
        memberships = Membership.objects.filter(user=user)
        locked = self.select_for_update(no_key=True).filter(pk__in=memberships.values("project"))
        return list(locked.order_by("pk"))

    def visible_to(self, user: User) -> "ProjectQuerySet":
        """Return the projects that the user is a member of; all for an admin."""
        return self if user.is_admin else self.filter(memberships__user=user)

    def owned_by(self, user: User) -> "ProjectQuerySet":
        """Return the projects whose data and members the user may change."""
        if user.is_admin:
            return self
        return self.filter(memberships__user=user, memberships__role=Role.OWNER)


class Project(NaturalKey):
    """A group's studies. Only members learn that a dataset of it exists."""

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
        """Return the user's role here, or None; OWNER for an admin of the site."""
        if user.is_admin:
            return Role.OWNER
        role = self.memberships.filter(user=user).values_list("role", flat=True).first()
        return Role(role) if role else None

    def allows(self, user: User, role: Role) -> bool:
        """Return whether the user's role here includes this role."""
        theirs = self.role_of(user)
        return theirs is not None and theirs.includes(role)

    def is_owned_by(self, user: User) -> bool:
        """Return whether the account, reloaded, is active and an owner here or an admin."""
        account = User.objects.filter(pk=user.pk, is_active=True).first()
        return account is not None and account.is_researcher and self.allows(account, Role.OWNER)

    def owners(self) -> "models.QuerySet[Membership]":
        """Return memberships of owners with an active account of a researcher or an admin."""
        may_act = Q(user__role__in=(User.Role.RESEARCHER, User.Role.ADMIN))
        may_act |= Q(user__is_superuser=True)
        return self.memberships.filter(may_act, role=Role.OWNER, user__is_active=True)


def main_project() -> int:
    """Return the key of the default project for datasets, created when it is first needed."""
    title = "Studies of this site"
    return Project.objects.get_or_create(slug=MAIN, defaults={"title": title})[0].pk


def join_main(user: User) -> None:
    """Add a researcher's account that a command creates to the default project."""
    if user.role == User.Role.RESEARCHER:
        Membership.objects.create(project_id=main_project(), user=user)


class Membership(models.Model):
    """Membership of an account in a project, with its role."""

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
        """Change the role; an empty one ends the membership.

        Raises MembershipError where somebody else has ended it meanwhile, where `by` is not an owner
        any more and does not just leave, and where no owner would be left. Admins may leave a project
        without one, as they own all.
        """
        with transaction.atomic():
            project = Project.objects.lock(self.project_id)
            member = project.memberships.select_related("user").filter(pk=self.pk).first()
            if member is None:
                raise MembershipError(f"{self.user} is no longer in the project.")
            if not (project.is_owned_by(by) or (by.pk == member.user_id and not role)):
                raise MembershipError("You are no longer an owner of this project.")
            remaining_owners = project.owners().exclude(pk=member.pk)
            ends_ownership = member.role == Role.OWNER and role != Role.OWNER
            if ends_ownership and not by.is_admin and not remaining_owners.exists():
                raise MembershipError("A project needs an owner: appoint another owner first.")
            if role:
                member.role = role
                member.save(update_fields=["role"])
            else:
                member.delete()
            for links in (
                project.invitations,
                project.shared_links,
            ):  # nobody lets oneself in again
                links.filter(made_by=member.user).revoke_ownerless(by)
            detail = f"{member.user.username}, {'to ' + role if role else 'not in it any more'}"
            ProjectEntry.record(project, by, "changed a member", detail)


class ProjectEntry(models.Model):
    """Audit log of a project and its data: append-only. Campaigns have LogEntry.

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
        help_text="for an import: first and last key of created rows, by table, and existing rows it completed",
    )
    undoes = models.OneToOneField(
        "self", on_delete=models.RESTRICT, null=True, blank=True, related_name="undone_by"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "project log entry"
        verbose_name_plural = "project log entries"

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
        **fields: Any,
    ) -> "ProjectEntry":
        """Write a log entry. `by` is None for what a command did.

        `fields` are further ones: `rows`, or the entry that this one undoes.
        """
        return cls.objects.create(
            project=project, by=by, action=action, detail=detail, dataset=dataset, **fields
        )


def visibility_filter(path: str, user: User) -> Q:
    """Return the condition that the dataset at `path` is in a project of the user's."""
    return Q() if user.is_admin else Q(**{f"{path}__project__memberships__user": user})
