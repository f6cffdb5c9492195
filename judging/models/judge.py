"""Judges: raters that are a model under one prompt. Rows are immutable."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation.model_families import family_of
from annotation.models import Dataset, Project, Rater, User
from judging.grading.spec import Spec
from judging.llm.sampling import Sampling
from judging.models.run import JudgeRun


class ImmutableError(TypeError):
    """Attempt to change a judge. A changed word is a new judge."""


class JudgeQuerySet(models.QuerySet["Judge"]):
    def visible_to(self, user: User) -> "JudgeQuerySet":
        """Return judges that a user sees: site-wide ones, and those of the user's projects.

        The latter are created, run or made for a dataset there.
        """
        if user.is_admin:
            return self
        runs = JudgeRun.objects.visible_to(user).filter(judge=OuterRef("pk"))
        # By a subquery: a join of the members of a project would give a judge once for each of them.
        of_datasets = Q(rater__dataset__in=Dataset.objects.visible_to(user).order_by().values("pk"))
        shared = Judge.projects.through.objects.filter(
            judge=OuterRef("pk"),
            project__in=Project.objects.visible_to(user).order_by().values("pk"),
        )
        return self.filter(Q(is_site_wide=True) | of_datasets | Q(Exists(runs)) | Q(Exists(shared)))

    def archivable_by(self, user: User) -> "JudgeQuerySet":
        """Return judges that are only in projects of which the user is an owner; all for an admin."""
        if user.is_admin:
            return self
        owned = Project.objects.owned_by(user).order_by().values("pk")
        projects = Judge.projects.through.objects.filter(judge=OuterRef("pk"))
        runs = JudgeRun.objects.filter(judge=OuterRef("pk"))
        return self.filter(
            Exists(projects.filter(project__in=owned)),
            ~Exists(projects.exclude(project__in=owned)),
            ~Exists(runs.exclude(dataset__project__in=owned)),
            is_site_wide=False,
        )


class Judge(models.Model):
    """All that shapes a judge's replies, under one fingerprint.

    Its grades are those of `rater`, whose name is the judge's slug. Rows are made and never changed, but
    for who sees them, whether they are archived and the family of the model, so that every grade can be
    traced to the prompt that made it.
    """

    class Backend(models.TextChoices):
        LEXICAL = "lexical", "lexical baseline"
        OPENAI = "openai", "OpenAI-compatible server"
        VLLM = "vllm", "vLLM in process"

    class FailurePolicy(models.TextChoices):
        MISSING = "missing", "leave the pair without a grade"
        ZERO = "zero", "count it as 0, as the CRUX paper does"

    rater = models.OneToOneField("annotation.Rater", on_delete=models.PROTECT, related_name="judge")
    rubric = models.ForeignKey(
        "annotation.Rubric", on_delete=models.PROTECT, related_name="judges", db_index=False
    )
    levels = models.JSONField(
        help_text="grades and labels of the rubric when the judge was created, ascending"
    )
    backend = models.CharField(max_length=10, choices=Backend.choices)
    model = models.CharField(max_length=250)
    revision = models.CharField(max_length=250, blank=True)
    prompt_name = models.CharField(max_length=120, blank=True)
    system = models.TextField(blank=True)
    prompt = models.TextField(blank=True)
    wording = models.TextField(blank=True, help_text="text of the rubric in the prompt")
    template_hash = models.CharField(max_length=64, blank=True)
    sampling = models.JSONField(default=dict)
    reply_model = models.CharField(
        max_length=250, blank=True, help_text="name of the model in replies; empty: the same name"
    )
    label_ids = models.JSONField(default=list)
    parser = models.CharField(max_length=40, blank=True)
    failure_policy = models.CharField(
        max_length=10, choices=FailurePolicy.choices, default=FailurePolicy.MISSING
    )
    fingerprint = models.CharField(max_length=64, unique=True, editable=False)
    is_site_wide = models.BooleanField(
        default=False,
        help_text="visible to all researchers of the site; otherwise to members of the projects where it runs",
    )
    archived = models.DateTimeField(
        null=True, blank=True, help_text="since when lists and new runs do not offer the judge"
    )
    projects = models.ManyToManyField(
        Project,
        blank=True,
        related_name="judges",
        help_text="projects in which an owner created the judge",
    )
    family_override = models.CharField(
        "family of the model",
        max_length=60,
        blank=True,
        help_text="empty: by the name of the model",
    )
    family_set = models.DateTimeField(null=True, blank=True, editable=False)
    family_set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        db_index=False,
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

    objects = JudgeQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(family_override="") | Q(family_set__isnull=False),
                name="family_by_hand_has_its_time",
            ),
        ]

    def __str__(self) -> str:
        return self.rater.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new judge with its fingerprint. Raises ImmutableError for a stored one."""
        if not self._state.adding:
            raise ImmutableError(f"The judge {self} cannot be changed: make a new one.")
        self.fingerprint = self.spec.fingerprint
        super().save(*args, **kwargs)

    @property
    def slug(self) -> str:
        return self.rater.name

    @property
    def is_baseline(self) -> bool:
        return self.rater.kind == Rater.Kind.BASELINE

    @property
    def family(self) -> str:
        """Return the family of the model, set by hand or by its name; "" for a baseline."""
        if self.is_baseline:
            return ""
        return self.family_override or family_of(self.model)

    @property
    def title(self) -> str:
        """Return the displayed name, which marks baselines."""
        return f"{self.slug} (baseline)" if self.is_baseline else self.slug

    @property
    def short(self) -> str:
        """Return the first eight digits of the fingerprint."""
        return self.fingerprint[:8]

    @property
    def spec(self) -> Spec:
        """Return all that shapes the replies, without the database."""
        return Spec(
            rubric=self.rubric.slug,
            levels=tuple((int(grade), str(label)) for grade, label in self.levels),
            backend=self.backend,
            model=self.model,
            revision=self.revision,
            system=self.system,
            prompt=self.prompt,
            wording=self.wording,
            template_hash=self.template_hash,
            sampling=Sampling(**self.sampling),
            label_ids=tuple(self.label_ids),
            parser=self.parser,
            failure_policy=self.failure_policy,
            reply_model=self.reply_model,
        )
