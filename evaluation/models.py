"""Models of runs, system settings, external report values, label samples and pair notes."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotation.decimals import decimals
from annotation.models.corpus import Text, origins_field
from annotation.models.natural import NaturalKey, NaturalQuerySet


class RetrievalRun(NaturalKey):
    """Named ranking of texts for each topic. The list of one topic is a retrieval context, Z.

    A run made here has its recipe and its origin: its sources, the versions that made it, and the
    outcome. Two with one fingerprint would be the same; one without came in a file. `origins` are the
    models that retrieved and reranked, also of a run from a file.
    """

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    name = models.CharField(max_length=120)
    tag = models.CharField(
        max_length=120, blank=True, help_text="run tag: last column of the run's file"
    )
    recipe = models.TextField(blank=True, default="", help_text="recipe of the run, in one line")
    origin = models.JSONField(default=dict, blank=True)
    fingerprint = models.CharField(max_length=64, blank=True, default="", editable=False)
    origins = origins_field()

    objects = NaturalQuerySet["RetrievalRun"].as_manager()
    NATURAL = ("dataset__slug", "name")

    class Meta:
        ordering = ["dataset_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="run_name_unique"),
            models.UniqueConstraint(
                fields=["dataset", "fingerprint"],
                condition=~Q(fingerprint=""),
                name="run_made_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RankedText(NaturalKey):
    """Text at its rank, counted from 1, in the order of the run's file.

    `file_rank` is the number in the file's own column, where that is another: in some files it is
    the same for a whole topic.
    """

    run = models.ForeignKey(
        RetrievalRun, on_delete=models.CASCADE, related_name="ranked", db_index=False
    )
    topic = models.ForeignKey("annotation.Topic", on_delete=models.CASCADE, related_name="ranked")
    text = models.ForeignKey("annotation.Text", on_delete=models.CASCADE, related_name="ranked")
    rank = models.PositiveIntegerField()
    score = models.FloatField(null=True)
    file_rank = models.IntegerField(null=True)

    objects = NaturalQuerySet["RankedText"].as_manager()
    NATURAL = ("run__dataset__slug", "run__name", "topic__name", "rank")

    class Meta:
        ordering = ["run_id", "topic_id", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["run", "topic", "rank"], name="rank_unique"),
            models.UniqueConstraint(fields=["run", "topic", "text"], name="ranked_text_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.run} {self.topic} {self.rank}: {self.text}"


class LabelSample(models.Model):
    """Sample of reports for people to label, with the source of its probabilities.

    Immutable: an estimate from these labels needs the probabilities as they were.
    """

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="label_samples"
    )
    rubric = models.ForeignKey("annotation.Rubric", on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey("annotation.Rater", on_delete=models.RESTRICT, related_name="+")
    eta = models.PositiveSmallIntegerField()
    system = models.CharField(
        max_length=120, blank=True, help_text="system of the reports; empty: all systems"
    )
    size = models.PositiveIntegerField()
    seed = models.PositiveBigIntegerField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    made = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.size} of {self.system or 'all systems'}, {self.made:%Y-%m-%d %H:%M}"


class SampleChance(models.Model):
    """Inclusion probability of a text in a sample, for each text that could be drawn.

    `is_drawn`: whether it was.
    """

    sample = models.ForeignKey(
        LabelSample, on_delete=models.CASCADE, related_name="chances", db_index=False
    )
    text = models.ForeignKey("annotation.Text", on_delete=models.CASCADE, related_name="+")
    chance = models.FloatField()
    is_drawn = models.BooleanField()

    class Meta:
        ordering = ["sample_id", "text_id"]
        verbose_name = "inclusion probability"
        verbose_name_plural = "inclusion probabilities"
        constraints = [
            models.UniqueConstraint(fields=["sample", "text"], name="sample_chance_unique"),
            models.CheckConstraint(
                condition=Q(chance__gt=0, chance__lte=1), name="sample_chance_between_0_and_1"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.text}: {decimals(self.chance, 3)}"


class LabelSequence(models.Model):
    """Units for people to label in a random order, until a question about coverage is decided.

    Immutable except for renamed systems: an interval that may be looked at any time needs an order that
    was fixed before. `units` are in this order, each as [topic, [[text, question, weight, answerable by
    the judge], ...]]; its value is the weighted sum over its pairs.
    """

    class Kind(models.TextChoices):
        MEAN = "mean", "mean of answerable pairs"
        ORDER = "order", "order of two systems"

    class Plan(models.TextChoices):
        SEQUENCE = "sequence", "confidence sequence"
        FIXED = "fixed", "fixed draw"

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="label_sequences"
    )
    rubric = models.ForeignKey("annotation.Rubric", on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey("annotation.Rater", on_delete=models.RESTRICT, related_name="+")
    eta = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    plan = models.CharField(max_length=8, choices=Plan.choices)
    system = models.CharField(max_length=120, blank=True, help_text="empty: all systems")
    other_system = models.CharField(max_length=120, blank=True, help_text="of an order")
    alpha = models.FloatField()
    target = models.FloatField(help_text="half-width of a mean, margin of an order")
    n_people = models.PositiveSmallIntegerField(help_text="people who grade each pair")
    n_planned = models.PositiveIntegerField(help_text="units that the plan expects")
    seed = models.PositiveBigIntegerField()
    units = models.JSONField()
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.question}, {self.created:%Y-%m-%d %H:%M}"

    def get_absolute_url(self) -> str:
        return reverse("label_sequence", args=[self.dataset.slug, self.pk])

    @property
    def question(self) -> str:
        """Question to be decided, in words."""
        if self.kind == self.Kind.ORDER:
            return f"{self.system} against {self.other_system}, margin {self.target:g}"
        return f"mean of {self.system or 'all systems'}, half-width {self.target:g}"


class Certificate(models.Model):
    """Stored result of testing whether a judge may stand in for one of the people.

    Immutable except for renamed people, and kept if the test was not passed: parameters that were chosen
    after the first look must be visible as such. Whether it still holds is computed, from the fingerprint,
    the rubric and the ratings that it was computed from (evaluation/data/certificates.py).
    """

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="certificates"
    )
    judge = models.ForeignKey(
        "annotation.Rater", on_delete=models.RESTRICT, related_name="+", db_index=False
    )
    rubric = models.ForeignKey("annotation.Rubric", on_delete=models.PROTECT, related_name="+")
    is_certified = models.BooleanField()
    parameters = models.JSONField(help_text="people, epsilon and margins, as they were chosen")
    result = models.JSONField()
    fingerprint = models.CharField(max_length=64, blank=True, help_text="of the judge")
    rubric_hash = models.CharField(max_length=64, help_text="SHA-256 of rubric and guidelines")
    data_hash = models.CharField(max_length=64, help_text="SHA-256 of the ratings and their texts")
    grade_digests = models.JSONField(help_text="digests of the ratings, by the key of their topic")
    text_digests = models.JSONField(help_text="digests of texts and questions, by topic")
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["judge", "rubric"], name="certificates_of_a_judge")]

    def __str__(self) -> str:
        return f"{self.judge} under {self.rubric}, {self.created:%Y-%m-%d %H:%M}"

    def get_absolute_url(self) -> str:
        return reverse("certificate", args=[self.dataset.slug, self.rubric.slug, self.judge_id])


class System(NaturalKey):
    """Settings of a system: plain values by their names, such as a model, k, a chunk's size.

    Its reports, and a retrieval run of its name, are tied to it by that name: a system without settings
    needs no row.
    """

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="systems", db_index=False
    )
    name = models.CharField(max_length=120)
    settings = models.JSONField(default=dict)

    objects = NaturalQuerySet["System"].as_manager()
    NATURAL = ("dataset__slug", "name")

    class Meta:
        ordering = ["dataset_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="system_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class ReportValue(NaturalKey):
    """Number computed elsewhere for a report, under the name of the measure."""

    report = models.ForeignKey(
        "annotation.Text", on_delete=models.CASCADE, related_name="measured", db_index=False
    )
    measure = models.CharField(max_length=120)
    value = models.FloatField()

    objects = NaturalQuerySet["ReportValue"].as_manager()
    NATURAL = (*(f"report__{path}" for path in Text.NATURAL), "measure")

    class Meta:
        ordering = ["report_id", "measure"]
        constraints = [
            models.UniqueConstraint(fields=["report", "measure"], name="report_value_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.report} {self.measure}: {self.value}"


class PairNoteQuerySet(models.QuerySet["PairNote"]):
    def not_withdrawn(self) -> "PairNoteQuerySet":
        """Return the notes that are not withdrawn."""
        return self.filter(withdrawn=None)


class PairNote(models.Model):
    """Note of a team member on a pair, never shown to annotators.

    Append-only: a change of mind is another note. Its author may withdraw it, and it is kept.
    `author` is the name of the account; it stays when the account is deleted, and is the only source of the
    author of a note that came in a file.
    """

    LONGEST = 4000

    text = models.ForeignKey(
        "annotation.Text", on_delete=models.CASCADE, related_name="notes", db_index=False
    )
    question = models.ForeignKey(
        "annotation.SubQuestion", on_delete=models.CASCADE, related_name="notes"
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    author = models.CharField(max_length=150)
    at = models.DateTimeField(default=timezone.now)
    body = models.TextField()
    withdrawn = models.DateTimeField(null=True)

    objects = PairNoteQuerySet.as_manager()

    class Meta:
        ordering = ["at", "id"]
        indexes = [models.Index(fields=["text", "question"], name="note_of_pair")]

    def __str__(self) -> str:
        return self.body

    def withdraw(self) -> None:
        """Mark the note as withdrawn, keeping the time of the first withdrawal."""
        PairNote.objects.not_withdrawn().filter(pk=self.pk).update(withdrawn=timezone.now())
