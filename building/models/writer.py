"""A writer: a model under one prompt for one task. Its row never changes."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation.models import User
from annotation.models.projects import seen_by
from building.models.writing import Writing
from building.writers.spec import WriterSpec
from judging.grading.pairs import Sampling
from judging.models import Immutable


class WriterQuerySet(models.QuerySet["Writer"]):
    def seen_by(self, user: User) -> "WriterQuerySet":
        """Filter writers to those of the user's projects, and baselines, which have no prompt."""
        if user.is_admin:
            return self
        baselines = Q(backend=Writer.Backend.EXTRACTIVE)
        theirs = Writing.objects.filter(seen_by("dataset", user), writer=OuterRef("pk"))
        return self.filter(baselines | Q(Exists(theirs)))


class Writer(models.Model):
    """Everything that shapes what a writer writes, under one fingerprint."""

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
        """Store a new writer; its fingerprint is made here. Raises Immutable for one that is stored."""
        if not self._state.adding:
            raise Immutable(f"The writer {self} cannot be changed: make a new one.")
        self.fingerprint = self.spec.fingerprint
        super().save(*args, **kwargs)

    @property
    def is_in_process(self) -> bool:
        """Whether the worker itself loads the model, and asks no server."""
        return self.backend in (self.Backend.VLLM, self.Backend.TRANSFORMERS)

    @property
    def is_baseline(self) -> bool:
        return self.spec.is_baseline

    @property
    def title(self) -> str:
        """The name as it is shown: a baseline is always called one."""
        return f"{self.slug} (baseline)" if self.is_baseline else self.slug

    @property
    def spec(self) -> WriterSpec:
        """What shapes the texts, without the database."""
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
