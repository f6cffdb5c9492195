"""Projects: which datasets belong together, and who sees them and may change them."""

from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse

from annotation.models.natural import ByNaturalKey, NaturalKey
from annotation.models.people import User

MAIN = "main"


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


class MembershipRefused(ValueError):
    """A change of members that is not allowed; the message can be shown to a person."""


class ProjectQuerySet(ByNaturalKey, models.QuerySet["Project"]):
    def lock(self, pk: int) -> "Project":
        """Return a project, locked until the transaction ends.

        Every change of its members takes this lock before it reads them, so that two changes at the
        same moment see each other. Rows that only refer to the project can be stored meanwhile.
        """
        return self.select_for_update(no_key=True).get(pk=pk)

    def lock_those_of(self, user: User) -> "list[Project]":
        """Return the projects that an account is in, locked likewise, always in the same order."""
        memberships = Membership.objects.filter(user=user)
        locked = self.select_for_update(no_key=True).filter(pk__in=memberships.values("project"))
        return list(locked.order_by("pk"))

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

    def is_owned_by(self, user: User) -> bool:
        """Return whether the account, read again, is active and an owner here, or an admin of the site."""
        account = User.objects.filter(pk=user.pk, is_active=True).first()
        return account is not None and account.is_researcher and self.lets(account, Role.OWNER)

    def owners(self) -> "models.QuerySet[Membership]":
        """Return the memberships of owners who can act: with an active account of a researcher or an admin."""
        may_act = Q(user__role__in=(User.Role.RESEARCHER, User.Role.ADMIN))
        may_act |= Q(user__is_superuser=True)
        return self.memberships.filter(may_act, role=Role.OWNER, user__is_active=True)


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
        """Change the role; an empty one ends the membership.

        Raises MembershipRefused where somebody else has ended it meanwhile, where `by` is not an owner
        any more and does not just leave, and where no owner would be left. Admins may leave a project
        without one, as they own all.
        """
        with transaction.atomic():
            project = Project.objects.lock(self.project_id)
            member = project.memberships.select_related("user").filter(pk=self.pk).first()
            if member is None:
                raise MembershipRefused(f"{self.user} is not in the project any more.")
            if not (project.is_owned_by(by) or (by.pk == member.user_id and not role)):
                raise MembershipRefused("You are not an owner of this project any more.")
            others = project.owners().exclude(pk=member.pk)
            ends_ownership = member.role == Role.OWNER and role != Role.OWNER
            if ends_ownership and not by.is_admin and not others.exists():
                raise MembershipRefused(
                    "A project needs an owner: make somebody else an owner first."
                )
            if role:
                member.role = role
                member.save(update_fields=["role"])
            else:
                member.delete()
            for given in (
                project.invitations,
                project.shared_links,
            ):  # nobody lets oneself in again
                given.filter(made_by=member.user).revoke_ownerless(by)
            detail = f"{member.user.username}, {'to ' + role if role else 'not in it any more'}"
            ProjectEntry.record(project, by, "changed a member", detail)


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
