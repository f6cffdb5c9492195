"""Raters, ratings, nugget spans, and the answers of people that ratings follow."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from annotation.models.corpus import Dataset
from annotation.models.keys import free_keys
from annotation.models.natural import ByNaturalKey, NaturalKey, NaturalQuerySet
from annotation.models.rubric import Rubric
from annotation.prepared import PreparedInsert, insert_all, stamp


class Rater(NaturalKey):
    """A person, or a model under one prompt; or what a rule made of the ratings of several.

    A rater that came in a file belongs to its dataset: two studies may both have an "annotator1",
    and they are two people. A rater without a dataset is known everywhere: an account, a judge.
    """

    class Kind(models.TextChoices):
        HUMAN = "human", "person"
        MODEL = "model", "model"
        BASELINE = "baseline", "baseline"
        AGGREGATE = "aggregate", "aggregate"

    dataset = models.ForeignKey(
        "annotation.Dataset",
        on_delete=models.CASCADE,
        related_name="raters",
        null=True,
        blank=True,
    )
    name = models.SlugField(max_length=120)
    kind = models.CharField(max_length=9, choices=Kind.choices)
    is_adjudicator = models.BooleanField(
        default=False, help_text="decided in sight of the grades of others"
    )
    made_from = models.TextField(blank=True, help_text="of an aggregate: from whom, how and when")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,  # labels outlive the account
        related_name="rater",
        null=True,
        blank=True,
    )

    objects = NaturalQuerySet["Rater"].as_manager()
    NATURAL = ("dataset__slug", "name")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "name"],
                condition=Q(dataset__isnull=False),
                name="rater_name_unique_in_dataset",
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(dataset__isnull=True),
                name="rater_name_unique_everywhere",
            ),
        ]

    def __str__(self) -> str:
        return self.name


Grade = tuple[int, int, int]  # key of the text, key of the question, grade
_PAIR = ("rater", "rubric", "text", "question")
_COLUMNS = ("rater_id", "rubric_id", "text_id", "question_id", "grade", "created")


class RatingQuerySet(ByNaturalKey, models.QuerySet["Rating"]):
    def of_dataset(self, dataset: Any) -> "RatingQuerySet":
        return self.filter(text__dataset=dataset)

    # The one place where ratings are written. Nothing else makes, changes or deletes one.

    def record(
        self,
        *,
        rater: int,
        rubric: int,
        text: int,
        question: int,
        grade: int | None,
        spans: Sequence[Mapping[str, Any]] = (),
        said: datetime | None = None,
    ) -> None:
        """Bring the rating of a pair in line with what its rater says now. In a transaction.

        All that is told are keys. A grade of None takes the rating back. `spans`, {start, end, quote}
        in their order, replace those that it had. `said` is when, if not just now: that tells of which words of
        a text that has had several.
        """
        pair = {"rater_id": rater, "rubric_id": rubric, "text_id": text, "question_id": question}
        if grade is None:
            self.filter(**pair).delete()
            return
        rating = Rating(**pair, grade=grade)
        if not _RATING.one(rating):
            NuggetSpan.objects.filter(rating=rating).delete()
            said = said or timezone.now()
        if said:
            self.filter(pk=rating.pk).update(created=said)
        if spans:
            _SPAN.many(
                [
                    NuggetSpan(rating=rating, position=position, **span)
                    for position, span in enumerate(spans)
                ]
            )

    def add(self, rater: int, rubric: int, grades: Iterable[Grade]) -> "list[Rating]":
        """New ratings of a rater, with their keys. Raises IntegrityError where a pair is rated already."""
        return Rating.objects.bulk_create(
            Rating(
                rater_id=rater, rubric_id=rubric, text_id=text, question_id=question, grade=grade
            )
            for text, question, grade in grades
        )

    def add_many(self, rater: int, rubric: int, grades: Iterable[Grade]) -> None:
        """The same without their keys, ten times as fast: for files of millions. In a transaction."""
        now = stamp()
        insert_all(Rating, _COLUMNS, [(rater, rubric, *graded, now) for graded in grades])

    def replace(self, rater: int, rubric: int, grades: Iterable[Grade]) -> "list[Rating]":
        """The ratings of an aggregate made anew, in place of those that it had. In a transaction."""
        self.filter(rater=rater, rubric=rubric, rater__kind=Rater.Kind.AGGREGATE).delete()
        return self.add(rater, rubric, grades)

    def date(self, ratings: "Iterable[Rating]") -> None:
        """Save when ratings were given: of an import that carries their times. In a transaction."""
        Rating.objects.bulk_update(ratings, ["created"], batch_size=500)

    def remove(self) -> None:
        """Delete all of these, whose spans are gone, without reading them. In a transaction."""
        self._raw_delete(self.db)

    def set_aside(self) -> list[dict[str, Any]]:
        """Delete all of these, and return them with their spans, for `put_back`. In a transaction.

        The hash says of which words of their text the spans are: these may change before. The key tells what
        an import brought, which may be undone before.
        """
        kept = []
        for rating in self.order_by("pk").select_related("text").prefetch_related("spans"):
            spans = [span.position_fields() for span in rating.spans.all()]
            row = {name: getattr(rating, f"{name}_id") for name in _PAIR}
            row |= {"grade": rating.grade, "created": rating.created.isoformat(), "spans": spans}
            row["key"] = rating.pk
            kept.append(row | {"text_sha256": rating.text.sha256})
        NuggetSpan.objects.filter(rating__in=self).delete()
        self.delete()
        return kept

    def put_back(self, kept: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Make again what was set aside, in a transaction. Of pairs that were rated since it is returned.

        Each has the key that it had, by which an import that brought it is undone. What was given by a rater,
        or to a text, that is gone by now is gone, too.
        """
        left, rows = [], list(kept)
        for name in _PAIR:
            model: Any = Rating._meta.get_field(name).related_model
            there = model.objects.in_bulk({row[name] for row in rows})
            rows = [row for row in rows if row[name] in there]
        free = free_keys(Rating, (row.get("key") for row in rows))  # older ones were kept without
        for row in rows:
            pair = {f"{name}_id": row[name] for name in _PAIR}
            if self.filter(**pair).exists():
                left.append(row)
                continue
            key = row.get("key")
            rating = self.create(pk=key if key in free else None, **pair, grade=row["grade"])
            self.filter(pk=rating.pk).update(created=row["created"])
            NuggetSpan.objects.bulk_create(
                NuggetSpan(rating=rating, position=position, **span)
                for position, span in enumerate(row["spans"])
            )
        return left

    def add_from(self, rater: int, rubric: int, select: str, values: Sequence[Any]) -> None:
        """The same of many pairs that another table holds, past those that are rated already, which stay.

        `select` is SQL that gives text, question and grade, with its values: the rows do not leave the
        database, and Django does not write the same words anew for each batch of a judge.
        """
        table = connection.ops.quote_name(Rating._meta.db_table)
        now = stamp()
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(_COLUMNS)})"  # noqa: S608
                f" SELECT %s, %s, graded.*, %s FROM ({select}) AS graded WHERE true"
                " ON CONFLICT DO NOTHING",
                [rater, rubric, now, *values],
            )


class Rating(NaturalKey):
    """The grade that a rater gives to a (text, question) pair under a rubric.

    No row means no rating: what is missing is missing, and never a 0 or a -1. For a person's work
    on the site this is the projection of the newest Answer; see annotation.participation.assigning.
    """

    # The unique constraint's own index begins with rater and rubric and serves those look-ups.
    rater = models.ForeignKey(
        Rater, on_delete=models.PROTECT, related_name="ratings", db_index=False
    )
    rubric = models.ForeignKey(
        Rubric, on_delete=models.PROTECT, related_name="ratings", db_index=False
    )
    text = models.ForeignKey("annotation.Text", on_delete=models.PROTECT, related_name="ratings")
    question = models.ForeignKey(
        "annotation.SubQuestion", on_delete=models.PROTECT, related_name="ratings"
    )
    grade = models.SmallIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    objects = RatingQuerySet.as_manager()

    NATURAL = (
        "rater__dataset__slug",
        "rater__name",
        "rubric__slug",
        "text__dataset__slug",
        "text__kind",
        "text__system",
        "text__name",
        "question__topic__dataset__slug",
        "question__topic__name",
        "question__position",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "rubric", "text", "question"], name="pair_rated_once"
            ),
            models.CheckConstraint(condition=Q(grade__gte=0), name="grade_never_below_zero"),
        ]

    def __str__(self) -> str:
        return f"{self.rater}: {self.grade}"


class NuggetSpan(NaturalKey):
    """Words of a text that support a rating: half-open [start, end) in Unicode code points.

    `body[start:end] == quote` always. `source_quote` keeps the words as a file gave them where
    they differ from the text; a highlight that is not in the text at all has no offsets.
    """

    class Located(models.TextChoices):
        EXACT = "exact", "exact"
        NORMALISED = "normalised", "after joining white space"
        UNLOCATED = "unlocated", "not in the text"

    rating = models.ForeignKey(
        Rating, on_delete=models.CASCADE, related_name="spans", db_index=False
    )
    position = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    source_quote = models.TextField(blank=True)
    located = models.CharField(max_length=10, choices=Located.choices, default=Located.EXACT)
    earlier_positions = models.JSONField(
        null=True,
        blank=True,
        help_text="of an edited text: the position in each earlier wording, by the SHA-256 of the wording",
    )

    POSITION = ("start", "end", "quote", "source_quote", "located")

    def position_fields(self) -> dict[str, Any]:
        """The position, with those in earlier wordings: fields to make the span again."""
        return {name: getattr(self, name) for name in (*self.POSITION, "earlier_positions")}

    objects = NaturalQuerySet["NuggetSpan"].as_manager()
    NATURAL = (*(f"rating__{path}" for path in Rating.NATURAL), "position")

    class Meta:
        ordering = ["rating_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["rating", "position"], name="span_position_unique"),
            models.CheckConstraint(
                condition=Q(located="unlocated", start__isnull=True, end__isnull=True)
                | (
                    ~Q(located="unlocated")
                    & Q(start__isnull=False, end__isnull=False, end__gt=F("start"))
                ),
                name="span_offsets_iff_located",
            ),
        ]

    def __str__(self) -> str:
        return self.quote or self.source_quote


_RATING = PreparedInsert(Rating, ["rater", "rubric", "text", "question"], ["grade"])
_SPAN = PreparedInsert(NuggetSpan)


class Answer(models.Model):
    """What a person said, once: append-only, never changed and never deleted.

    The browser makes the key, so that an answer sent twice is stored once. A grade of None takes
    an earlier answer back. The newest answer of an assignment's question under a rubric is its Rating.
    An answer to an attention check has that check instead of a question, and is never a rating.

    What comes too late to count is kept and is no rating; `late` says why. If the item is handed
    in after all, its newest answers count, and are no longer late.
    """

    class Late(models.TextChoices):
        NO = "", "in time"
        TAKEN_BACK = "taken_back", "the item had been taken back"
        CLOSED = "closed", "the study was closed"
        SET_ASIDE = "set_aside", "the work was set aside"

    reopens = False  # whether it took back that its item was handed in; known as it is saved

    assignment = models.ForeignKey(
        "annotation.Assignment", on_delete=models.PROTECT, related_name="answers", db_index=False
    )
    question = models.ForeignKey(
        "annotation.SubQuestion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="answers",
    )
    check_asked = models.ForeignKey(
        "annotation.AttentionCheck",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="answers",
    )
    # No index: nothing looks answers up by it, and every answer would pay for one.
    rubric = models.ForeignKey(
        Rubric,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="a further rubric of the campaign; empty: its own",
    )
    key = models.UUIDField()
    grade = models.SmallIntegerField(null=True)
    spans = models.JSONField(help_text="[{start, end, quote}], code points of the text")
    text_sha256 = models.CharField(max_length=64, help_text="of the text as it was shown")
    active_ms = models.PositiveIntegerField(
        default=0,
        help_text="active milliseconds on the page since the answer before; idle not counted",
    )
    late = models.CharField(
        max_length=10,
        choices=Late.choices,
        blank=True,
        default=Late.NO,
        help_text="why it is no rating, though it was kept",
    )
    altered = models.BooleanField(
        default=False,
        help_text="given on a page whose text or questions the browser had changed, as by translation",
    )
    rated_spans = models.JSONField(
        null=True,
        blank=True,
        help_text="of its rating on an edited text, when it stopped counting: some may be placed by hand",
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "key"], name="answer_stored_once"),
            models.CheckConstraint(
                condition=Q(question=None, check_asked__isnull=False)
                | Q(question__isnull=False, check_asked=None),
                name="answer_is_to_one_question",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.question_id or self.check_asked_id}: {self.grade}"


def raters_of(dataset: Dataset) -> dict[str, Rater]:
    """The raters of a dataset by name: those that came in its files, and who else rated its texts."""
    rated = Rating.objects.filter(rater=OuterRef("pk"), text__dataset=dataset)
    return named(Rater.objects.filter(Q(dataset=dataset) | Q(Exists(rated), dataset=None)))


def named(raters: Iterable[Rater]) -> dict[str, Rater]:
    """The raters of one dataset by name, each under a name of its own.

    Those that came in files are known by their own names. Accounts and judges belong to no
    dataset, and one whose name a rater of the dataset has already is told from it by an ending.
    Import and export both name them so, which is why reading an export again finds everybody.
    """
    by_name: dict[str, Rater] = {}
    for rater in sorted(raters, key=lambda rater: (rater.dataset_id is None, rater.name)):
        name = rater.name
        while name in by_name:
            name += "-site"
        by_name[name] = rater
    return by_name


def name_in(dataset: Dataset, rater: Rater) -> str:
    """How a rater is called in a dataset: by its own name, where nobody else of that name is known."""
    names = (name for name, candidate in raters_of(dataset).items() if candidate.pk == rater.pk)
    return next(names, rater.name)
