"""Test collections: datasets, topics, sub-questions, documents and rated texts."""

import hashlib
from typing import Any

from django.db import models
from django.db.models import F, Q, Value
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models.natural import ByNaturalKey, NaturalKey, NaturalQuerySet
from annotation.models.people import User
from annotation.models.projects import Project, Role, main_project


def origins_field() -> "models.JSONField[Any, Any]":
    """Return a field for the origins of a row (annotation/origins.py).

    Bulk inserts leave it out, so the database has its default.
    """
    return models.JSONField(
        default=list,
        db_default=Value([], output_field=models.JSONField()),
        blank=True,
        help_text="models that made it: [{role, model, revision, edited}]; empty: unknown",
    )


def digest(body: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, in hex, to compare wordings."""
    return hashlib.sha256(body.encode()).hexdigest()


class DatasetQuerySet(ByNaturalKey, models.QuerySet["Dataset"]):
    def visible_to(self, user: User) -> "DatasetQuerySet":
        """Return the datasets of the user's projects; all for an admin."""
        return self if user.is_admin else self.filter(project__memberships__user=user)

    def run_by(self, user: User) -> "DatasetQuerySet":
        """Return the datasets whose campaigns the user may run."""
        if user.is_admin:
            return self
        runs = [Role.COORDINATOR, Role.OWNER]
        return self.filter(project__memberships__user=user, project__memberships__role__in=runs)

    def lock(self, pk: int) -> "Dataset":
        """Lock the row of a dataset until the transaction ends, and return it reloaded.

        The one lock for every change to the words or contents of a dataset: text edits, imports, undo, renames,
        replacements, removals. SQLite has one writer anyway. Rows that refer to the dataset, such as the rater
        of somebody who arrives, need its key alone and do not wait. Raises Dataset.DoesNotExist.
        """
        return self.select_for_update(no_key=True).get(pk=pk)


class Dataset(NaturalKey):
    """A test collection. Only members of its project and admins see it."""

    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="datasets", default=main_project
    )
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    created = models.DateTimeField(auto_now_add=True)

    objects = DatasetQuerySet.as_manager()
    NATURAL = ("slug",)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("dataset", args=[self.slug])


class Topic(NaturalKey):
    """An open-ended query: the request that a report answers."""

    dataset = models.ForeignKey(
        Dataset, on_delete=models.CASCADE, related_name="topics", db_index=False
    )
    name = models.CharField(max_length=200)
    request = models.TextField()
    position = models.PositiveIntegerField()
    group = models.SlugField(
        max_length=80,
        blank=True,
        default="",
        db_index=False,
        help_text="task type, domain or track; results are also reported by group",
    )

    objects = NaturalQuerySet["Topic"].as_manager()
    NATURAL = ("dataset__slug", "name")

    class Meta:
        ordering = ["dataset_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="topic_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class SubQuestionQuerySet(ByNaturalKey, models.QuerySet["SubQuestion"]):
    def with_words(self) -> "SubQuestionQuerySet":
        """Return questions with a body: only these may be asked of a rater or a judge."""
        return self.exclude(body="")


class SubQuestion(NaturalKey):
    """A question of a topic. A filtered one is kept, with the reason, and not asked of people.

    A body of "" is an empty position in the source. It is kept, since positions are indices, and it
    is always filtered.
    """

    EMPTY_REASON = "no words in the source"
    WHOLE = "the request as a whole"

    topic = models.ForeignKey(
        Topic, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    position = models.PositiveSmallIntegerField(
        help_text="from 0, as in the files of the CRUX authors"
    )
    body = models.TextField(blank=True)
    source_body = models.TextField(
        blank=True, help_text="wording in the imported file, if it has more white space"
    )
    filtered_because = models.CharField(max_length=200, blank=True)
    filtered_eta = models.PositiveSmallIntegerField(null=True, blank=True)
    group = models.CharField(
        max_length=250,
        blank=True,
        help_text="the part of the request that the question is about",
    )
    origins = origins_field()

    objects = SubQuestionQuerySet.as_manager()

    NATURAL = ("topic__dataset__slug", "topic__name", "position")

    class Meta:
        ordering = ["topic_id", "position"]
        verbose_name = "sub-question"
        verbose_name_plural = "sub-questions"
        constraints = [
            models.UniqueConstraint(fields=["topic", "position"], name="question_position_unique"),
            models.CheckConstraint(
                condition=~Q(body="") | ~Q(filtered_because=""),
                name="question_without_words_is_filtered",
            ),
        ]

    def __str__(self) -> str:
        return self.body or f"({self.EMPTY_REASON})"

    @property
    def number(self) -> int:
        """Return the number of the question, from 1."""
        return self.position + 1

    @property
    def is_filtered(self) -> bool:
        return bool(self.filtered_because)


class Document(NaturalKey):
    """Source document of passages: never rated, searched or scored itself.

    Its hash identifies its wording, like that of a text.
    """

    dataset = models.ForeignKey(
        Dataset, on_delete=models.CASCADE, related_name="documents", db_index=False
    )
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="documents")
    name = models.CharField(max_length=250)
    body = models.TextField()
    sha256 = models.CharField(max_length=64, editable=False)

    objects = NaturalQuerySet["Document"].as_manager()
    NATURAL = ("dataset__slug", "name")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="document_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.sha256 = digest(self.body)
        super().save(*args, **kwargs)


class TextQuerySet(ByNaturalKey, models.QuerySet["Text"]):
    def with_body(self) -> "TextQuerySet":
        """Return texts with a body: only these may be assigned to a rater."""
        return self.filter(body__isnull=False)


class Text(NaturalKey):
    """A rated text: a passage, a generated report, or a human reference summary.

    A body of None is a text that runs and ratings name but whose body is not in the dataset: it is
    counted and scored, and never shown to an annotator. The hash identifies the wording that was
    shown.
    """

    class Kind(models.TextChoices):
        PASSAGE = "passage", _("passage")
        REPORT = "report", _("report")
        REFERENCE = "reference", _("reference summary")

    dataset = models.ForeignKey(
        Dataset, on_delete=models.CASCADE, related_name="texts", db_index=False
    )
    topic = models.ForeignKey(
        Topic, on_delete=models.CASCADE, related_name="texts", null=True, blank=True
    )
    kind = models.CharField(max_length=10, choices=Kind.choices)
    system = models.CharField(
        max_length=120,
        blank=True,
        help_text="system that generated the report, such as annotated.bm25",
    )
    name = models.CharField(max_length=250)
    body = models.TextField(null=True, blank=True)  # noqa: DJ001 - missing is not empty
    sha256 = models.CharField(max_length=64, blank=True, editable=False)
    document = models.ForeignKey(
        Document,
        on_delete=models.SET_NULL,
        related_name="passages",
        null=True,
        blank=True,
        db_index=False,
        help_text="source document of a passage",
    )
    start = models.PositiveIntegerField(
        null=True, blank=True, help_text="start of the passage in its document, in code points"
    )
    end = models.PositiveIntegerField(null=True, blank=True)
    origins = origins_field()

    objects = TextQuerySet.as_manager()

    NATURAL = ("dataset__slug", "kind", "system", "name")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "kind", "system", "name"], name="text_name_unique"
            ),
            models.CheckConstraint(
                condition=Q(body__isnull=True, sha256="") | (Q(body__isnull=False) & ~Q(sha256="")),
                name="text_hash_iff_body",
            ),
            models.CheckConstraint(
                condition=~Q(kind="report") | ~Q(system=""), name="report_has_system"
            ),
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True) | Q(start__lt=F("end")),
                name="text_place_is_whole",
            ),
        ]
        indexes = [
            models.Index(
                fields=["document"], condition=Q(document__isnull=False), name="text_of_document"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.sha256 = digest(self.body) if self.body is not None else ""
        super().save(*args, **kwargs)


class Citation(NaturalKey):
    """A citation mark of a report, naming the text that a statement rests on.

    `start` and `end` are the statement's, in code points of the report. `label` is the mark as
    written; if it names nothing that the report was given, `cited` is None: it is kept, and
    counted.
    """

    report = models.ForeignKey(
        Text, on_delete=models.CASCADE, related_name="citations", db_index=False
    )
    position = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    label = models.CharField(max_length=250)
    cited = models.ForeignKey(
        Text, on_delete=models.SET_NULL, related_name="cited_by", null=True, blank=True
    )

    objects = NaturalQuerySet["Citation"].as_manager()
    NATURAL = (*(f"report__{path}" for path in Text.NATURAL), "position")

    class Meta:
        ordering = ["report_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["report", "position"], name="citation_position_unique"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="citation_of_a_statement"),
        ]

    def __str__(self) -> str:
        return self.label
