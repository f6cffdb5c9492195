"""A writer: a model with one prompt for one task. Writers are immutable."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation.models import User
from annotation.models.projects import visibility_filter
from building.models.writing import Writing
from building.writers.spec import WriterSpec
from judging.llm.sampling import Sampling
from judging.models import ImmutableError


class WriterQuerySet(models.QuerySet["Writer"]):
    def visible_to(self, user: User) -> "WriterQuerySet":
        """Filter writers to the user's own, those of their projects, and baselines.

        Baselines have no prompt.
        """
        if user.is_admin:
            return self
        baselines = Q(backend=Writer.Backend.EXTRACTIVE)
        theirs = Writing.objects.filter(visibility_filter("dataset", user), writer=OuterRef("pk"))
        return self.filter(baselines | Q(created_by=user) | Q(Exists(theirs)))


class Writer(models.Model):
    """Everything that shapes a writer's texts, under one fingerprint."""

    class Backend(models.TextChoices):
        EXTRACTIVE = "extractive", "extractive baseline"
        OPENAI = "openai", "OpenAI-compatible server"
        VLLM = "vllm", "vLLM in process"
        TRANSFORMERS = "transformers", "transformers in process"

    slug = models.SlugField(max_length=120, unique=True)
    task = models.CharField(max_length=20)
    backend = models.CharField(max_length=12, choices=Backend.choices)
    model = models.CharField(max_length=250)
    revision = models.CharField(max_length=250, blank=True)
    system = models.TextField(blank=True)
    prompt = models.TextField(blank=True)
    template_hash = models.CharField(max_length=64, blank=True)
    adapter = models.CharField(max_length=250, blank=True)
    adapter_hash = models.CharField(max_length=64, blank=True)
    sampling = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64, unique=True, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )

    objects = WriterQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new writer with its fingerprint. Raises ImmutableError for an existing one."""
        if not self._state.adding:
            raise ImmutableError(f"The writer {self} cannot be changed: make a new one.")
        self.fingerprint = self.spec.fingerprint
        super().save(*args, **kwargs)

    @property
    def is_in_process(self) -> bool:
        """Return whether the worker loads the model itself and needs no server."""
        return self.backend in (self.Backend.VLLM, self.Backend.TRANSFORMERS)

    @property
    def is_baseline(self) -> bool:
        return self.spec.is_baseline

    @property
    def title(self) -> str:
        """Return the display name; a baseline is always marked as one."""
        return f"{self.slug} (baseline)" if self.is_baseline else self.slug

    @property
    def spec(self) -> WriterSpec:
        """Return the writer's specification without the database."""
        return WriterSpec(
            task=self.task,
            backend=self.backend,
            model=self.model,
            revision=self.revision,
            system=self.system,
            prompt=self.prompt,
            template_hash=self.template_hash,
            adapter=self.adapter,
            adapter_hash=self.adapter_hash,
            sampling=Sampling(**self.sampling),
        )
