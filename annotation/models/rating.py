"""Raters, ratings and nugget spans. Ratings of people on the site follow their answers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, models
from django.db.models import BooleanField, F, Func, OuterRef, Q, Subquery
from django.db.models.lookups import IsNull
from django.utils import timezone

from annotation.models.corpus import Dataset, Text
from annotation.models.keys import free_keys
from annotation.models.natural import ByNaturalKey, NaturalKey, NaturalQuerySet
from annotation.models.rubric import Rubric
from annotation.prepared import PreparedInsert, execute_prepared, insert_all, stamp


class Rater(NaturalKey):
    """A person, a model under one prompt, a baseline, or an aggregate of several raters.

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
        default=False, help_text="decides with the grades of others visible"
    )
    made_from = models.TextField(
        blank=True, help_text="for an aggregate: its raters, rule and date"
    )
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


class Exposure(models.IntegerChoices):
    """Grades and decisions that a rater had seen before giving a grade.

    Set by the server, never by the browser. Names in lower case are those in files.
    """

    NONE = 0, "nothing"
    JUDGE = 1, "the grade of a judge"
    RATERS = 2, "the grades of other raters"
    BOTH = 3, "the grades of a judge and of other raters"
    UNKNOWN = 4, "unknown"
    FEEDBACK = 5, "the decisions of an expert on other pairs"

    @property
    def file_name(self) -> str:
        return self.name.lower()

    @classmethod
    def from_file_name(cls, file_name: str) -> "Exposure":
        return cls[file_name.upper()]


# Grades that were not given independently. What is unknown is not called dependent.
EXPOSED = (Exposure.JUDGE, Exposure.RATERS, Exposure.BOTH, Exposure.FEEDBACK)


class IsExposed(Func):
    """Condition that a rating is exposed, which the partial index of such ratings serves.

    The values are written into the SQL, because databases use no partial index for query parameters.
    """

    template = f"%(expressions)s IN ({', '.join(map(str, map(int, EXPOSED)))})"
    output_field = BooleanField()

    def __init__(self, expression: str = "exposure", **extra: Any) -> None:
        super().__init__(expression, **extra)


Grade = tuple[int, int, int]  # key of the text, key of the question, grade
_PAIR = ("rater", "rubric", "text", "question")
_COLUMNS = ("rater_id", "rubric_id", "text_id", "question_id", "grade", "created", "exposure")


class RatingQuerySet(ByNaturalKey, models.QuerySet["Rating"]):
    def of_dataset(self, dataset: Any) -> "RatingQuerySet":
        return self.filter(text__dataset=dataset)

    def exist_for_rater(self) -> IsNull:
        """Return the condition that an outer query's rater has such ratings.

        The order is that of the unique index, which begins with rater and rubric. For a plain EXISTS PostgreSQL
        reads the table from its beginning for each rater, 0.7 seconds with a million ratings.
        """
        ratings = self.filter(rater=OuterRef("pk")).order_by("rubric_id", "text_id")
        return IsNull(Subquery(ratings.values("pk")[:1]), False)

    # All writes of ratings go through these methods.

    def record(
        self,
        *,
        rater: int,
        rubric: int,
        text: int,
        question: int,
        grade: int | None,
        spans: Sequence[Mapping[str, Any]] = (),
        rated_at: datetime | None = None,
        copied_from: int | None = None,
        exposure: int = Exposure.UNKNOWN,
    ) -> None:
        """Create, update or delete the rating of a pair to match its rater's grade.

        In a transaction. Arguments are keys. A grade of None deletes the rating. `spans`, {start,
        end, quote} in order, replace those stored before. `rated_at` is the time of the grade, if
        not the present: it selects the wording of a text that has had several. `copied_from` is the text of
        equal words that was graded: such a copy never replaces or deletes a grade of the text itself.
        """
        pair = {"rater_id": rater, "rubric_id": rubric, "text_id": text, "question_id": question}
        if grade is None:
            self.filter(**pair, **({"copied_from__isnull": False} if copied_from else {})).delete()
            return
        rating = Rating(**pair, grade=grade, copied_from_id=copied_from, exposure=exposure)
        if copied_from:
            self._record_copy(rating, spans, rated_at)
            return
        if not _RATING.insert_one(rating):
            execute_prepared(_DELETE_SPANS, [rating.pk])
            rated_at = rated_at or timezone.now()
        if rated_at:
            execute_prepared(_DATE_RATING, [stamp(rated_at), rating.pk])
        if spans:
            _SPAN.insert_many(
                [
                    NuggetSpan(rating=rating, position=position, **span)
                    for position, span in enumerate(spans)
                ]
            )

    def _record_copy(
        self,
        copy: "Rating",
        spans: Sequence[Mapping[str, Any]],
        rated_at: datetime | None,
    ) -> None:
        """Record a copied rating, unless its rater has graded the text itself."""
        Rating.objects.bulk_create([copy], ignore_conflicts=True)
        # The update comes after the insert: another request may just have stored the rater's own grade.
        pair = {f"{name}_id": getattr(copy, f"{name}_id") for name in _PAIR}
        copies = self.filter(**pair, copied_from__isnull=False)
        changed = {
            "grade": copy.grade,
            "copied_from": copy.copied_from_id,
            "exposure": copy.exposure,
        }
        if not copies.update(**changed, created=rated_at or timezone.now()):
            return
        rating = copies.get()
        NuggetSpan.objects.filter(rating=rating).delete()
        NuggetSpan.objects.bulk_create(
            NuggetSpan(rating=rating, position=position, **span)
            for position, span in enumerate(spans)
        )

    def remove_copy(self, **pair: int) -> None:
        """Delete the rating of a pair, by its keys, if it is a copy."""
        self.filter(**pair, copied_from__isnull=False).delete()

    def add(
        self, rater: int, rubric: int, grades: Iterable[Grade], exposure: int = Exposure.UNKNOWN
    ) -> "list[Rating]":
        """Create ratings of a rater, and return them with their keys.

        Raises IntegrityError where a pair is rated already.
        """
        return Rating.objects.bulk_create(
            Rating(
                rater_id=rater,
                rubric_id=rubric,
                text_id=text,
                question_id=question,
                grade=grade,
                exposure=exposure,
            )
            for text, question, grade in grades
        )

    def add_many(
        self, rater: int, rubric: int, grades: Iterable[Grade], exposure: int = Exposure.UNKNOWN
    ) -> None:
        """Bulk-insert ratings without returning keys, ten times as fast. In a transaction."""
        now = stamp()
        rows = [(rater, rubric, *graded, now, int(exposure)) for graded in grades]
        insert_all(Rating, _COLUMNS, rows)

    def replace(
        self,
        rater: int,
        rubric: int,
        grades: Iterable[Grade],
        read_texts: Mapping[tuple[int, int], int],
    ) -> "list[Rating]":
        """Replace all ratings of an aggregate by these. In a transaction.

        `read_texts` has the text of equal words whose grade was copied, by text and question.
        """
        self.filter(rater=rater, rubric=rubric, rater__kind=Rater.Kind.AGGREGATE).delete()
        ratings = self.add(rater, rubric, grades, Exposure.RATERS)
        copies = [rating for rating in ratings if _text_and_question(rating) in read_texts]
        for rating in copies:
            rating.copied_from_id = read_texts[_text_and_question(rating)]
        self.mark_copies(copies)
        return ratings

    def mark_copies(self, ratings: "Iterable[Rating]") -> None:
        """Save the texts whose grades imported ratings copy. In a transaction."""
        Rating.objects.bulk_update(ratings, ["copied_from"], batch_size=500)

    def date(self, ratings: "Iterable[Rating]") -> None:
        """Save the creation times of ratings whose import carries times. In a transaction."""
        Rating.objects.bulk_update(ratings, ["created"], batch_size=500)

    def expose(self, ratings: "Iterable[Rating]") -> None:
        """Save the exposures of imported ratings. In a transaction."""
        Rating.objects.bulk_update(ratings, ["exposure"], batch_size=500)

    def remove(self) -> None:
        """Delete these ratings in SQL without reading them. In a transaction. Spans must be gone."""
        self._raw_delete(self.db)

    def set_aside(self) -> list[dict[str, Any]]:
        """Delete these ratings and return them as rows with spans, for `put_back`.

        In a transaction. `text_sha256` identifies the wording that the spans are in, which may
        change before they are restored. `key` identifies ratings of an import that may be undone
        before.
        """
        rows = []
        for rating in self.order_by("pk").select_related("text").prefetch_related("spans"):
            spans = [span.position_fields() for span in rating.spans.all()]
            row = {name: getattr(rating, f"{name}_id") for name in _PAIR}
            row |= {"grade": rating.grade, "created": rating.created.isoformat(), "spans": spans}
            row["key"] = rating.pk
            row["exposure"] = rating.exposure
            if rating.copied_from_id:
                row["copied_from"] = rating.copied_from_id
            rows.append(row | {"text_sha256": rating.text.sha256})
        NuggetSpan.objects.filter(rating__in=self).delete()
        self.delete()
        return rows

    def restore(self, superseded: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Restore superseded ratings; return the rows of pairs rated since. In a transaction.

        Each gets its former key back, by which the import that brought it is undone. Rows of a
        rater, rubric, text or question that no longer exists are dropped.
        """
        unrestored, rows = [], list(superseded)
        for name in _PAIR:
            model: Any = Rating._meta.get_field(name).related_model
            existing = model.objects.in_bulk({row[name] for row in rows})
            rows = [row for row in rows if row[name] in existing]
        sources = Text.objects.in_bulk({row["copied_from"] for row in rows if "copied_from" in row})
        free = free_keys(Rating, (row.get("key") for row in rows))  # older ones were kept without
        for row in rows:
            pair = {f"{name}_id": row[name] for name in _PAIR}
            if self.filter(**pair).exists():
                unrestored.append(row)
                continue
            key = row.get("key")
            source = sources.get(row.get("copied_from"))
            rating = self.create(
                pk=key if key in free else None,
                **pair,
                grade=row["grade"],
                copied_from=source,
                exposure=row.get("exposure", Exposure.UNKNOWN),  # rows before it was stored
            )
            self.filter(pk=rating.pk).update(created=row["created"])
            NuggetSpan.objects.bulk_create(
                NuggetSpan(rating=rating, position=position, **span)
                for position, span in enumerate(row["spans"])
            )
        return unrestored

    def add_from(self, rater: int, rubric: int, select: str, values: Sequence[Any]) -> None:
        """Insert ratings of a judge by INSERT ... SELECT, skipping pairs that are rated already.

        `select` is SQL that yields text, question and grade, with its `values`: the rows do not
        leave the database, and Django does not compile the same SQL again for each batch of a
        judge.
        """
        table = connection.ops.quote_name(Rating._meta.db_table)
        now = stamp()
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(_COLUMNS)})"  # noqa: S608
                f" SELECT %s, %s, graded.*, %s, %s FROM ({select}) AS graded WHERE true"
                " ON CONFLICT DO NOTHING",
                [rater, rubric, now, int(Exposure.NONE), *values],
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
    copied_from = models.ForeignKey(
        "annotation.Text",
        on_delete=models.SET_NULL,
        related_name="copied_ratings",
        null=True,
        blank=True,
        db_index=False,
        help_text="text of equal words that the rater read; empty: the rater read this text",
    )
    exposure = models.SmallIntegerField(
        choices=Exposure.choices,
        default=Exposure.UNKNOWN,
        db_default=Exposure.UNKNOWN,
        help_text="what the rater had seen before giving the grade",
    )
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
        indexes = [
            models.Index(
                fields=["copied_from"],
                condition=Q(copied_from__isnull=False),
                name="rating_copied_from",
            ),
            models.Index(
                fields=["rater"], condition=Q(exposure__in=EXPOSED), name="rating_exposed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater}: {self.grade}"


class NuggetSpan(NaturalKey):
    """Span of a text that supports a rating: half-open [start, end) in Unicode code points.

    `body[start:end] == quote` always. `source_quote` keeps the words as a file gave them where
    they differ from the text; a highlight that is not in the text at all has no offsets.
    """

    class Located(models.TextChoices):
        EXACT = "exact", "exact"
        NORMALISED = "normalised", "after normalising white space"
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
        help_text="for an edited text: the position in each earlier wording, by the wording's SHA-256",
    )

    POSITION = ("start", "end", "quote", "source_quote", "located")

    def position_fields(self) -> dict[str, Any]:
        """Return the position, also in earlier wordings: the fields to create the span again."""
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


def _text_and_question(rating: Rating) -> tuple[int, int]:
    return rating.text_id, rating.question_id


_RATING = PreparedInsert(
    Rating, ["rater", "rubric", "text", "question"], ["grade", "copied_from", "exposure"]
)
_SPAN = PreparedInsert(NuggetSpan)
# Statements of each changed answer. RETURNING, because `execute_prepared` fetches rows.
_DELETE_SPANS = "DELETE FROM annotation_nuggetspan WHERE rating_id = %s RETURNING id"
_DATE_RATING = "UPDATE annotation_rating SET created = %s WHERE id = %s RETURNING id"


def raters_of(dataset: Dataset) -> dict[str, Rater]:
    """Return raters by name: those of the dataset's files, and all who rated its texts."""
    rated = Rating.objects.of_dataset(dataset).exist_for_rater()
    return raters_by_name(Rater.objects.filter(Q(dataset=dataset) | Q(rated, dataset=None)))


def raters_by_name(raters: Iterable[Rater]) -> dict[str, Rater]:
    """Return raters of one dataset by unique name.

    Raters from files have their own names. Accounts and judges belong to no dataset; "-site" is
    appended to a name that a rater of the dataset has already. Import and export both use these
    names, so that reading an export again finds everybody.
    """
    by_name: dict[str, Rater] = {}
    for rater in sorted(raters, key=lambda rater: (rater.dataset_id is None, rater.name)):
        name = rater.name
        while name in by_name:
            name += "-site"
        by_name[name] = rater
    return by_name


def rater_name_in(dataset: Dataset, rater: Rater) -> str:
    """Return the rater's name in a dataset: its own, with an ending where that is taken."""
    names = (name for name, candidate in raters_of(dataset).items() if candidate.pk == rater.pk)
    return next(names, rater.name)


class RatingVersion(models.Model):
    """Random number of a write to a rater's ratings; the sum over its rows is its version.

    Written by the triggers of `annotation.rating_versions` alone. The key of the rater is no relation: the
    last ratings that are deleted write a row too, and it stays when the rater goes.
    """

    rater_id = models.BigIntegerField(db_index=True)
    token = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.token} of rater {self.rater_id}"
