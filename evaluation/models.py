"""Retrieval runs, settings of systems, values from elsewhere, samples to label next, notes on pairs."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.decimals import decimals
from annotation.models.corpus import Text
from annotation.models.natural import NaturalKey, NaturalQuerySet


class RetrievalRun(NaturalKey):
    """A named ranking of texts for each topic. One topic's list is a retrieval context, Z.

    One that was made here has its recipe and its origin: what it was made from, by which versions, and
    what came of it. Two with one fingerprint would be the same; one without came in a file.
    """

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    name = models.CharField(max_length=120)
    tag = models.CharField(max_length=120, blank=True, help_text="the last column of its file")
    recipe = models.TextField(blank=True, default="", help_text="the line that says how it is made")
    origin = models.JSONField(default=dict, blank=True)
    fingerprint = models.CharField(max_length=64, blank=True, default="", editable=False)

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
    """A text at its rank, counted from 1, in the order of the run's file.

    `file_rank` is what the file's own column says, where that is another number: in some files it is
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
    """A sample of reports for people to label, with what its probabilities were computed from.

    Never changed once made: an estimate from these labels needs the probabilities as they were.
    """

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="label_samples"
    )
    rubric = models.ForeignKey("annotation.Rubric", on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey("annotation.Rater", on_delete=models.RESTRICT, related_name="+")
    eta = models.PositiveSmallIntegerField()
    system = models.CharField(max_length=120, blank=True, help_text="empty: of all systems")
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
    """The probability with which a sample takes one text, and whether it did: for each it could take."""

    sample = models.ForeignKey(
        LabelSample, on_delete=models.CASCADE, related_name="chances", db_index=False
    )
    text = models.ForeignKey("annotation.Text", on_delete=models.CASCADE, related_name="+")
    chance = models.FloatField()
    is_drawn = models.BooleanField()

    class Meta:
        ordering = ["sample_id", "text_id"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "text"], name="sample_chance_unique"),
            models.CheckConstraint(
                condition=Q(chance__gt=0, chance__lte=1), name="sample_chance_between_0_and_1"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.text}: {decimals(self.chance, 3)}"


class System(NaturalKey):
    """How a system was set: plain values by their names, such as a model, k, a chunk's size.

    Its reports, and a retrieval run of its name, are tied to it by that name: a system that says nothing of
    itself needs no row.
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
    """A number that was computed elsewhere of a report, under the name of what computed it."""

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
    def standing(self) -> "PairNoteQuerySet":
        """Those that nobody withdrew."""
        return self.filter(withdrawn=None)


class PairNote(models.Model):
    """What somebody wrote about a pair, for those of the project: never shown to who annotates.

    Append-only: whoever thinks otherwise later writes another. Its author may withdraw it, and it is kept.
    `author` is the name of the account; it stays when that goes, and is all there is of who wrote a note that
    came in a file.
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
        """Take it out of sight; when it was withdrawn first, where it was already."""
        PairNote.objects.standing().filter(pk=self.pk).update(withdrawn=timezone.now())
