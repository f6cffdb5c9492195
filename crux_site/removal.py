"""Bulk removal of rows of a dataset: preview by table, blockers, and deletion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import SET_NULL, Count, ForeignKey, ManyToOneRel, Model, Q, QuerySet

from annotation.errors import UserError
from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Campaign,
    CheckQuestion,
    Citation,
    Dataset,
    Decision,
    Document,
    EqualText,
    Item,
    ItemQuestion,
    LogEntry,
    Message,
    NuggetSpan,
    Part,
    Participant,
    Rater,
    Rating,
    SharedLink,
    SubQuestion,
    SurveyAnswer,
    SurveyQuestion,
    Text,
    Topic,
    Version,
)
from annotation.models.keys import last_key, skip_keys
from annotation.models.rating import RatingQuerySet
from annotation.row_versions import version_of
from building.models import Draft, Order, Product, Writing
from evaluation.models import (
    Certificate,
    LabelSample,
    LabelSequence,
    PairNote,
    RankedText,
    ReportValue,
    RetrievalRun,
    SampleChance,
    System,
)
from judging.models import Attempt, Batch, Judge, JudgeRun, JudgeTestReply, Shard

Rows = Mapping[type[Model], QuerySet[Any]]
CONFIRM_ABOVE = 1_000  # rows; more are removed only after the name of the dataset is typed

# Work of people and models on a dataset: removed with the whole dataset alone.
WORK_TABLES: dict[type[Model], str] = {
    JudgeTestReply: "run__dataset",
    Attempt: "batch__run__dataset",
    Batch: "run__dataset",
    Shard: "run__dataset",
    JudgeRun: "dataset",
    Certificate: "dataset",
    SampleChance: "sample__dataset",
    LabelSample: "dataset",
    LabelSequence: "dataset",
    Answer: "assignment__item__campaign__dataset",
    Decision: "item__campaign__dataset",
    Assignment: "item__campaign__dataset",
    Part: "participant__campaign__dataset",
    LogEntry: "campaign__dataset",
    Message: "campaign__dataset",
    SurveyAnswer: "participant__campaign__dataset",
    Participant: "campaign__dataset",
    AttentionCheck: "campaign__dataset",
    CheckQuestion: "campaign__dataset",
    SurveyQuestion: "campaign__dataset",
    ItemQuestion: "item__campaign__dataset",
    EqualText: "item__campaign__dataset",
    Item: "campaign__dataset",
    Campaign.further_rubrics.through: "campaign__dataset",
    Campaign: "dataset",
    SharedLink: "dataset",
    PairNote: "text__dataset",
}
# Rows that files bring.
IMPORTED_TABLES: dict[type[Model], str] = {
    Product: "draft__order__run__dataset",
    Draft: "order__run__dataset",
    Order: "run__dataset",
    Writing: "dataset",
    ReportValue: "report__dataset",
    System: "dataset",
    RankedText: "run__dataset",
    RetrievalRun: "dataset",
    NuggetSpan: "rating__text__dataset",
    Rating: "text__dataset",
    Citation: "report__dataset",
    Version: "dataset",
    Text: "dataset",
    SubQuestion: "topic__dataset",
    Document: "dataset",
    Topic: "dataset",
    Judge.projects.through: "judge__rater__dataset",
    Judge: "rater__dataset",  # the baseline, which knows the words of one dataset
    Rater: "dataset",
}
# Each table comes before those that its rows refer to; with the path from a row to its dataset.
TABLES = {**WORK_TABLES, **IMPORTED_TABLES}

# Labels of blockers: path to a value, pattern of the place for that value, label of the rows.
BLOCKER_LABELS: dict[type[Model], tuple[str, str, str]] = {
    Item: ("campaign__title", "Campaign {}", "texts in use"),
    EqualText: ("item__campaign__title", "Campaign {}", "texts with copied grades"),
    ItemQuestion: ("item__campaign__title", "Campaign {}", "questions in use"),
    Answer: ("assignment__item__campaign__title", "Campaign {}", "answers of people"),
    Decision: ("item__campaign__title", "Campaign {}", "decisions of experts"),
    Campaign: ("title", "Campaign {}", "settings with this rater"),
    Participant: ("campaign__title", "Campaign {}", "participants with this rater"),
    Attempt: ("batch__run", "Judge run {}", "replies"),
    JudgeTestReply: ("run", "Judge run {}", "replies of a test"),
    Judge: ("rater__name", "Judge {}", "judges with this rater"),
    Rating: ("rater__name", "Rater {}", "ratings"),
    RankedText: ("run__name", "Retrieval run {}", "ranked texts"),
    SampleChance: ("sample", "Sample {} of Label next", "texts"),
    LabelSample: ("pk", "Sample {} of Label next", "settings with this rater"),
    LabelSequence: ("pk", "Label sequence {}", "settings with this rater"),
    Certificate: ("rubric__title", "Certificates under {}", "tests of this judge"),
    Order: ("run", "Generation run {}", "tasks"),
    Product: ("draft__order__run", "Generation run {}", "accepted texts and questions"),
    Text: ("kind", "Texts of the kind {}", "texts"),
    SubQuestion: ("topic__name", "Topic {}", "sub-questions"),
    Citation: ("report__system", "Reports of {}", "citations"),
    ReportValue: ("report__system", "Reports of {}", "values"),
    Document: ("topic__name", "Topic {}", "documents"),
}
TABLE_LABELS: dict[type[Model], str] = {
    Attempt: "replies of judges",
    Batch: "batches of replies",
    Shard: "shards of judge runs",
    Item: "items of campaigns",  # `items` alone would be a method in a template
    LogEntry: "entries of the logs of campaigns",
    Campaign.further_rubrics.through: "further rubrics of campaigns",
    Judge.projects.through: "projects of judges",
    SampleChance: "probabilities of texts in samples",
    EqualText: "texts of equal words",
    ItemQuestion: "questions of items",
    Product: "generated texts and questions",
    Draft: "replies of writers",
    SubQuestion: "sub-questions",
    Version: "text edits",
    System: "systems with settings",
    ReportValue: "values of reports",
}
# Fields that are set to null with a reference: offsets are undefined without their document.
CLEARED_FIELDS: dict[tuple[type[Model], str], dict[str, None]] = {
    (Text, "document"): {"start": None, "end": None}
}


class RemovalChangedError(UserError):
    """The preview that a person confirmed had other numbers of rows than would be removed now."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing was removed: the rows have changed since you opened the page. Check them, and "
            "confirm again."
        )


@dataclass(frozen=True)
class Blocker:
    """Blocker of a removal: its place and number of rows, or a `sentence`; `url` leads to it."""

    location: str
    n: int
    label: str
    sentence: str = ""
    url: str = ""

    def __str__(self) -> str:
        return self.sentence or f"{self.location}: {self.n:,} {self.label}"


class Removal:
    """Rows of tables that are removed together; they are counted, not read into memory.

    References from remaining rows are set to null where the model allows that. `before` are the highest
    keys of tables before those rows were created: rows that came later may not refer to them, then.
    """

    def __init__(self, rows: Rows, before: Mapping[type[Model], int] | None = None) -> None:
        self.rows = {model: rows[model].order_by() for model in TABLES if model in rows}
        self.before = before

    def counts(self) -> dict[str, int]:
        """Return the number of rows to remove by label of their table, without zeros."""
        counted = {table_label(model): rows.count() for model, rows in self.rows.items()}
        return {label: n for label, n in counted.items() if n}

    def blockers(self, makers: Sequence[tuple[str, Rows]] = ()) -> list[Blocker]:
        """Return the blockers: rows that refer to these and remain.

        `makers` are imports, by name, with their rows.
        """
        counts: dict[tuple[str, str], int] = {}
        for field, rows in self._references():
            model = field.model
            if model is Version:
                continue
            stays = self._referring_rows(field, rows).exclude(self._is_set_null(field))
            for name, import_rows in makers:
                if model in import_rows and (
                    n := stays.filter(pk__in=import_rows[model].values("pk")).count()
                ):
                    key = f"The import of {name}", table_label(model)
                    counts[key] = max(n, counts.get(key, 0))
                    stays = stays.exclude(pk__in=import_rows[model].values("pk"))
            path, pattern, label = BLOCKER_LABELS.get(
                model, ("pk", table_label(model) + " {}", "rows")
            )
            for value, n in (
                stays.order_by().values_list(path).annotate(n=Count("pk", distinct=True))
            ):
                key = pattern.format(value), label
                counts[key] = max(n, counts.get(key, 0))  # by its text and by its question
        if Text in self.rows:
            counts |= self._answer_counts() | self._task_counts() | self._sequence_counts()
        blockers = [Blocker(pattern, n, label) for (pattern, label), n in sorted(counts.items())]
        return self._edit_blockers() + blockers

    def delete(self) -> None:
        """Delete the rows. In a transaction.

        Raises IntegrityError if rows still refer to them, perhaps only at the end of the transaction.
        """
        with _attempt_indexes() if Text in self.rows or SubQuestion in self.rows else nullcontext():
            for field, rows in self._references():
                if field.null:
                    nulls = {field.name: None, **CLEARED_FIELDS.get((field.model, field.name), {})}
                    referring = self._referring_rows(field, rows).filter(self._is_set_null(field))
                    referring.update(**nulls)
            for rows in self.rows.values():
                if isinstance(rows, RatingQuerySet):
                    rows.remove()
                else:
                    rows._raw_delete(rows.db)

    def _references(self) -> Iterator[tuple[ForeignKey[Any, Any], QuerySet[Any]]]:
        """Yield the foreign keys to these tables, with the rows that they may refer to."""
        for model, rows in self.rows.items():
            for relation in model._meta.get_fields(include_hidden=True):
                if isinstance(relation, ManyToOneRel):
                    yield relation.field, rows

    def _referring_rows(self, field: ForeignKey[Any, Any], rows: QuerySet[Any]) -> QuerySet[Any]:
        refer = field.model._base_manager.filter(**{f"{field.name}__in": rows.values("pk")})
        goes = self.rows.get(field.model)
        return refer if goes is None else refer.exclude(pk__in=goes.values("pk"))

    def _is_set_null(self, field: ForeignKey[Any, Any]) -> Q:
        """Filter the rows whose reference by this field is set to null."""
        nothing = Q(pk__in=[])
        if not field.null:
            return nothing
        if self.before is None:
            return ~nothing if field.remote_field.on_delete is SET_NULL else nothing
        return Q(pk__lte=self.before.get(field.model, 0))

    def _edit_blockers(self) -> list[Blocker]:
        """Return blockers for edited texts and questions among the rows: their versions remain."""
        edits = Version.objects.none()
        for model, name in ((Text, "text"), (SubQuestion, "question")):
            if model in self.rows:
                edits |= Version.objects.filter(**{f"{name}__in": self.rows[model].values("pk")})
        if Version in self.rows:
            edits = edits.exclude(pk__in=self.rows[Version].values("pk"))
        edits = edits.order_by("replaced").select_related(
            "dataset", "text", "question__topic", "by"
        )
        # The first edit of each: to restore the words from before it undoes those after it as well.
        first = {(edit.text_id, edit.question_id): edit for edit in reversed(edits)}
        return [
            Blocker(edit.label, 1, "text edit", edit.told, edit.get_absolute_url())
            for edit in reversed(first.values())
        ]

    def _answer_counts(self) -> dict[tuple[str, str], int]:
        """Count answers of people to items that remain, but whose text is removed."""
        stays = Answer.objects.filter(assignment__item__text__in=self.rows[Text].values("pk"))
        if Item in self.rows:
            return {}
        path, pattern, label = BLOCKER_LABELS[Answer]
        counted = stays.order_by().values_list(path).annotate(n=Count("pk"))
        return {(pattern.format(value), label): n for value, n in counted}

    def _sequence_counts(self) -> dict[tuple[str, str], int]:
        """Count removed pairs of label sequences that remain, by key."""
        if LabelSequence in self.rows:
            return {}
        texts = self.rows[Text]
        questions = self.rows.get(SubQuestion, SubQuestion.objects.none())
        of_dataset = Q(dataset__in=texts.values("dataset")) | Q(
            dataset__in=questions.values("topic__dataset")
        )
        sequences = LabelSequence.objects.filter(of_dataset).order_by("pk")
        counts: dict[tuple[str, str], int] = {}
        if sequences.exists():
            removed_texts = set(texts.values_list("pk", flat=True))
            removed_questions = set(questions.values_list("pk", flat=True))
            for sequence in sequences.iterator():
                n = sum(
                    pair[0] in removed_texts or pair[1] in removed_questions
                    for _topic, pairs in sequence.units
                    for pair in pairs
                )
                if n:
                    counts[f"Label sequence {sequence.pk}", "pairs"] = n
        return counts

    def _task_counts(self) -> dict[tuple[str, str], int]:
        """Count generation tasks whose inputs name texts or documents to remove, by key."""
        texts = self.rows[Text]
        orders = Order.objects.filter(run__dataset__in=texts.values("dataset"))
        orders = (
            orders.exclude(pk__in=self.rows[Order].values("pk")) if Order in self.rows else orders
        )
        counts: Counter[tuple[str, str]] = Counter()
        if orders.exists():
            documents = self.rows.get(Document, Document.objects.none())
            removed = {
                model: set(rows.values_list("pk", flat=True))
                for model, rows in ((Text, texts), (Document, documents))
            }
            for run, inputs in orders.values_list("run", "inputs").iterator():
                input_texts = {
                    inputs.get("reference"),
                    inputs.get("passage"),
                    *inputs.get("passages", []),
                }
                if input_texts & removed[Text] or removed[Document].intersection(
                    inputs.get("documents", [])
                ):
                    counts[f"Generation run {run}", "tasks with its texts"] += 1
        return dict(counts)


@dataclass(frozen=True)
class RemovalPreview:
    """Preview of a removal: `counts` of rows by table, or the reasons that block it."""

    removal: Removal
    counts: dict[str, int]
    reasons: list[Blocker]

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def version(self) -> str:
        """Version of the preview, which the form that confirms it carries."""
        return version_of(self.counts)

    def check_version(self, known_version: str) -> None:
        """Raise RemovalChangedError if a person confirmed another preview; "" skips this."""
        if known_version not in ("", self.version):
            raise RemovalChangedError

    def __str__(self) -> str:
        return ", ".join(f"{n} {label}" for label, n in self.counts.items()) or "no rows were left"


def rows_of(dataset: Dataset) -> Rows:
    """Return all rows of a dataset, except its own row."""
    return {
        model: model._base_manager.filter(**{path: dataset.pk}) for model, path in TABLES.items()
    }


def last_keys(dataset: Dataset) -> dict[type[Model], int]:
    """Return the last key of each table that imports fill. Under the dataset's lock.

    Rows created from here on have greater keys than any row of the dataset that ever existed, superseded
    ratings included, which are stored with a version and restored with their keys.
    """
    noted = list(dataset.log.exclude(rows={}).values_list("rows", flat=True))
    for model in IMPORTED_TABLES:
        skip_keys(model, max((_key_range(model, keys)[1] for keys in noted), default=0))
    return {model: last_key(model) for model in IMPORTED_TABLES}


def keys_since(before: Mapping[type[Model], int]) -> dict[str, Any]:
    """Return for each table the first and the last key of rows created since then."""
    return {model._meta.label_lower: [last + 1, last_key(model)] for model, last in before.items()}


def rows_of_import(dataset: Dataset, keys: Mapping[str, Any]) -> Rows:
    """Return the rows of a dataset that an import created, by the keys that it logged.

    Of ratings only those of raters from files: people and judges work meanwhile, and somebody may create an
    aggregate. Ratings of judges that the files define are included. Spans go with their rating: an import
    may find a highlight that another brought.
    """
    rows: dict[type[Model], QuerySet[Any]] = {}
    for model, path in IMPORTED_TABLES.items():
        within = {path: dataset.pk, "pk__range": _key_range(model, keys)}
        rows[model] = model._base_manager.filter(**within)
    rows[Rating] = rows[Rating].filter(rater__in=raters_of_import(dataset, keys).values("pk"))
    rows[Rater] = rows[Rater].exclude(kind=Rater.Kind.AGGREGATE)
    rows[NuggetSpan] = NuggetSpan.objects.filter(rating__in=rows[Rating].values("pk"))
    return rows


def raters_of_files(dataset: Dataset) -> QuerySet[Rater]:
    return Rater.objects.filter(dataset=dataset, judge=None).exclude(kind=Rater.Kind.AGGREGATE)


def raters_of_import(dataset: Dataset, keys: Mapping[str, Any]) -> QuerySet[Rater]:
    """Return raters from files, and the judges that the import logged: its files define them."""
    return raters_of_files(dataset) | Rater.objects.filter(pk__in=keys.get("judges", []))


def set_aside_within(dataset: Dataset, keys: Mapping[str, Any]) -> Iterator[tuple[Version, int]]:
    """Yield versions without the superseded grades of an import, and the number removed.

    The keys are those that the import wrote down; nothing is saved.
    """
    first, last = _key_range(Rating, keys)
    raters = set(raters_of_import(dataset, keys).values_list("pk", flat=True))
    for version in dataset.versions.exclude(set_aside=[]):
        n_before = len(version.set_aside)
        version.set_aside = [
            row
            for row in version.set_aside
            if row["rater"] not in raters or not first <= row.get("key", 0) <= last
        ]
        if n := n_before - len(version.set_aside):
            yield version, n


def had_citations_within(dataset: Dataset, keys: Mapping[str, Any]) -> Iterator[Version]:
    """Yield versions of reports without the earlier citations of an import; not saved."""
    first, last = _key_range(Citation, keys)
    if last < first:
        return
    for version in dataset.versions.filter(text__kind=Text.Kind.REPORT).exclude(had={}):
        citations = version.had["citations"]
        remaining = [row for row in citations if not first <= row.get("pk", 0) <= last]
        if len(remaining) < len(citations):
            version.had["citations"] = remaining
            yield version


def _key_range(model: type[Model], keys: Mapping[str, Any]) -> list[int]:
    """Return the first and the last key that a row of an import may have; [1, 0] if none."""
    within: list[int] = keys.get(model._meta.label_lower, [1, 0])
    return within


def table_label(model: type[Model]) -> str:
    """Return the label of a table, as "ranked texts"."""
    return TABLE_LABELS.get(model) or str(model._meta.verbose_name_plural)


@contextmanager
def _attempt_indexes() -> Iterator[None]:
    """Index attempts by text and question inside.

    They have no such index otherwise, for judges write them by the million; and a database that checks
    whether one refers to a deleted text would read them all, for each text. Judges wait meanwhile.
    """
    columns = ("text_id", "question_id")
    is_postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if is_postgres:
            # Whoever reads attempts before writing some could not be waited for at the end.
            cursor.execute("LOCK TABLE judging_attempt")
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no index while checks are pending
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for column in columns:
            cursor.execute(f"CREATE INDEX removal_{column} ON judging_attempt ({column})")
        yield
        if is_postgres:  # which looks else when the transaction ends
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for column in columns:
            cursor.execute(f"DROP INDEX removal_{column}")
        if is_postgres:  # for what the transaction does next, as an import that replaces them
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
