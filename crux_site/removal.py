"""Removing rows of a dataset in bulk: what would go, by table, what stands on it, and the removal itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import SET_NULL, Count, ForeignKey, ManyToOneRel, Model, Q, QuerySet

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
    Text,
    Topic,
    Version,
)
from annotation.models.keys import last_key, skip_keys
from annotation.models.rating import RatingQuerySet
from building.models import Draft, Order, Product, Writing
from evaluation.models import (
    LabelSample,
    PairNote,
    RankedText,
    ReportValue,
    RetrievalRun,
    SampleChance,
    System,
)
from judging.models import Attempt, Batch, Judge, JudgeRun, Shard

Rows = Mapping[type[Model], QuerySet[Any]]
MANY = 1_000  # of more rows than these nobody lets go by a slip of the hand

# Where people and models said something, and what is thrown away with a study alone.
SAID: dict[type[Model], str] = {
    Attempt: "batch__run__dataset",
    Batch: "run__dataset",
    Shard: "run__dataset",
    JudgeRun: "dataset",
    SampleChance: "sample__dataset",
    LabelSample: "dataset",
    Answer: "assignment__item__campaign__dataset",
    Decision: "item__campaign__dataset",
    Assignment: "item__campaign__dataset",
    Part: "participant__campaign__dataset",
    LogEntry: "campaign__dataset",
    Message: "campaign__dataset",
    Participant: "campaign__dataset",
    AttentionCheck: "campaign__dataset",
    CheckQuestion: "campaign__dataset",
    ItemQuestion: "item__campaign__dataset",
    Item: "campaign__dataset",
    Campaign.further_rubrics.through: "campaign__dataset",
    Campaign: "dataset",
    SharedLink: "dataset",
    PairNote: "text__dataset",
}
# What files bring.
BROUGHT: dict[type[Model], str] = {
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
# Each before those that its rows refer to; with the way from a row to its dataset.
TABLES = {**SAID, **BROUGHT}

# Who stands on rows is told by the value at a path, in words for one of them.
PLACES: dict[type[Model], tuple[str, str, str]] = {
    Item: ("campaign__title", "Campaign {}", "texts that it shows"),
    ItemQuestion: ("item__campaign__title", "Campaign {}", "questions that it asks"),
    Answer: ("assignment__item__campaign__title", "Campaign {}", "answers of people"),
    Decision: ("item__campaign__title", "Campaign {}", "decisions of experts"),
    Campaign: ("title", "Campaign {}", "settings that name this rater"),
    Participant: ("campaign__title", "Campaign {}", "people who rate as this rater"),
    Attempt: ("batch__run", "Judge run {}", "replies"),
    Judge: ("rater__name", "Judge {}", "judges that grade as this rater"),
    Rating: ("rater__name", "Rater {}", "ratings"),
    RankedText: ("run__name", "Retrieval run {}", "ranked texts"),
    SampleChance: ("sample", "Sample {} of what to label next", "texts"),
    LabelSample: ("pk", "Sample {} of what to label next", "settings that name this rater"),
    Order: ("run", "Writing {}", "orders"),
    Product: ("draft__order__run", "Writing {}", "written texts and questions"),
    Text: ("kind", "Texts of the kind {}", "texts"),
    SubQuestion: ("topic__name", "Topic {}", "sub-questions"),
    Citation: ("report__system", "Reports of {}", "citations"),
    ReportValue: ("report__system", "Reports of {}", "values"),
    Document: ("topic__name", "Topic {}", "documents"),
}
WORDS: dict[type[Model], str] = {
    Attempt: "replies of judges",
    Batch: "batches of replies",
    Shard: "shards of judge runs",
    Item: "items of campaigns",  # a template would take the one word for a method of the table
    LogEntry: "entries of the logs of campaigns",
    Campaign.further_rubrics.through: "further rubrics of campaigns",
    Judge.projects.through: "projects of judges",
    SampleChance: "chances of texts in samples",
    ItemQuestion: "questions of items",
    Product: "written texts and questions",
    Draft: "replies of writers",
    SubQuestion: "sub-questions",
    Version: "changes of words",
    System: "systems with settings",
    ReportValue: "values of reports",
}
# What is let go of with a reference: a place in a document is nothing without the document.
WITH_IT: dict[tuple[type[Model], str], dict[str, None]] = {
    (Text, "document"): {"start": None, "end": None}
}


@dataclass(frozen=True)
class Standing:
    """What keeps rows from going: where it is, and how much; or a `sentence`. `url` leads to it."""

    place: str
    n: int
    what: str
    sentence: str = ""
    url: str = ""

    def __str__(self) -> str:
        return self.sentence or f"{self.place}: {self.n:,} {self.what}"


class Removal:
    """Rows of tables that go together. Nothing is read into memory, and each number is counted anew.

    References to them from rows that stay are let go where the model allows that. `before` are the highest
    keys of tables before those rows were made: rows that came later may not refer to them, then.
    """

    def __init__(self, rows: Rows, before: Mapping[type[Model], int] | None = None) -> None:
        self.rows = {model: rows[model].order_by() for model in TABLES if model in rows}
        self.before = before

    def counts(self) -> dict[str, int]:
        """How many rows go, by the words for their table; tables of which none goes are left out."""
        counted = {words_for(model): rows.count() for model, rows in self.rows.items()}
        return {words: n for words, n in counted.items() if n}

    def standing(self, makers: Sequence[tuple[str, Rows]] = ()) -> list[Standing]:
        """Rows that refer to these and are not among them; `makers` are imports, by name, with their rows."""
        found: dict[tuple[str, str], int] = {}
        for field, rows in self._references():
            model = field.model
            if model is Version:
                continue
            stays = self._staying(field, rows).exclude(self._is_let_go(field))
            for name, made in makers:
                if model in made and (n := stays.filter(pk__in=made[model].values("pk")).count()):
                    key = f"The import of {name}", words_for(model)
                    found[key] = max(n, found.get(key, 0))
                    stays = stays.exclude(pk__in=made[model].values("pk"))
            path, place, what = PLACES.get(model, ("pk", words_for(model) + " {}", "rows"))
            for value, n in (
                stays.order_by().values_list(path).annotate(n=Count("pk", distinct=True))
            ):
                key = place.format(value), what
                found[key] = max(n, found.get(key, 0))  # by its text and by its question
        if Text in self.rows:
            found |= self._answers() | self._orders()
        standing = [Standing(place, n, what) for (place, what), n in sorted(found.items())]
        return self._edited() + standing

    def delete(self) -> None:
        """In a transaction. Raises IntegrityError where something stands on the rows, perhaps as it ends."""
        with _found_by_index() if Text in self.rows or SubQuestion in self.rows else nullcontext():
            for field, rows in self._references():
                if field.null:
                    nothing = {field.name: None, **WITH_IT.get((field.model, field.name), {})}
                    let_go = self._staying(field, rows).filter(self._is_let_go(field))
                    let_go.update(**nothing)
            for rows in self.rows.values():
                if isinstance(rows, RatingQuerySet):
                    rows.remove()
                else:
                    rows._raw_delete(rows.db)

    def _references(self) -> Iterator[tuple[ForeignKey[Any, Any], QuerySet[Any]]]:
        """Foreign keys to tables of which rows go, with those rows; not what goes with its rows by itself."""
        for model, rows in self.rows.items():
            for relation in model._meta.get_fields(include_hidden=True):
                if isinstance(relation, ManyToOneRel):
                    yield relation.field, rows

    def _staying(self, field: ForeignKey[Any, Any], rows: QuerySet[Any]) -> QuerySet[Any]:
        refer = field.model._base_manager.filter(**{f"{field.name}__in": rows.values("pk")})
        goes = self.rows.get(field.model)
        return refer if goes is None else refer.exclude(pk__in=goes.values("pk"))

    def _is_let_go(self, field: ForeignKey[Any, Any]) -> Q:
        """Rows whose reference by this field is let go of."""
        nothing = Q(pk__in=[])
        if not field.null:
            return nothing
        if self.before is None:
            return ~nothing if field.remote_field.on_delete is SET_NULL else nothing
        return Q(pk__lte=self.before.get(field.model, 0))

    def _edited(self) -> list[Standing]:
        """Texts and questions among the rows that have been edited: their earlier words are rows that stay."""
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
            Standing(edit.label, 1, "text edit", edit.told, edit.get_absolute_url())
            for edit in reversed(first.values())
        ]

    def _answers(self) -> dict[tuple[str, str], int]:
        """Answers of people to items whose text goes and which stay themselves."""
        stays = Answer.objects.filter(assignment__item__text__in=self.rows[Text].values("pk"))
        if Item in self.rows:
            return {}
        path, place, what = PLACES[Answer]
        counted = stays.order_by().values_list(path).annotate(n=Count("pk"))
        return {(place.format(value), what): n for value, n in counted}

    def _orders(self) -> dict[tuple[str, str], int]:
        """Orders of writers that show texts or documents which go: their inputs name these by key."""
        texts = self.rows[Text]
        orders = Order.objects.filter(run__dataset__in=texts.values("dataset"))
        orders = (
            orders.exclude(pk__in=self.rows[Order].values("pk")) if Order in self.rows else orders
        )
        found: Counter[tuple[str, str]] = Counter()
        if orders.exists():
            documents = self.rows.get(Document, Document.objects.none())
            goes = {
                model: set(rows.values_list("pk", flat=True))
                for model, rows in ((Text, texts), (Document, documents))
            }
            for run, inputs in orders.values_list("run", "inputs").iterator():
                one = {inputs.get("reference"), inputs.get("passage"), *inputs.get("passages", [])}
                if one & goes[Text] or goes[Document].intersection(inputs.get("documents", [])):
                    found[f"Writing {run}", "orders that show its texts"] += 1
        return dict(found)


@dataclass(frozen=True)
class Going:
    """What would go: `counts` of rows by table; or the reasons for which it stays."""

    removal: Removal
    counts: dict[str, int]
    reasons: list[Standing]

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    def __str__(self) -> str:
        return ", ".join(f"{n} {words}" for words, n in self.counts.items()) or "nothing was left"


def rows_of(dataset: Dataset) -> Rows:
    """All rows of a dataset, but its own."""
    return {
        model: model._base_manager.filter(**{path: dataset.pk}) for model, path in TABLES.items()
    }


def last_keys(dataset: Dataset) -> dict[type[Model], int]:
    """The last key that each table has given of those that files bring rows of. Under the dataset's lock.

    What is made from here on has greater keys than any row of the dataset that ever was: also than superseded
    ratings, which lie with a version and come back with their keys.
    """
    noted = list(dataset.log.exclude(rows={}).values_list("rows", flat=True))
    for model in BROUGHT:
        skip_keys(model, max((_within(model, keys)[1] for keys in noted), default=0))
    return {model: last_key(model) for model in BROUGHT}


def keys_since(before: Mapping[type[Model], int]) -> dict[str, Any]:
    """For each table the first and the last key that a row made since then may have."""
    return {model._meta.label_lower: [last + 1, last_key(model)] for model, last in before.items()}


def made_within(dataset: Dataset, keys: Mapping[str, Any]) -> Rows:
    """The rows of a dataset that an import made, by the keys that it wrote down.

    Of ratings those of raters that came in files: people and judges work meanwhile, and somebody may make an
    aggregate. Ratings of judges that the files define are among them. Spans go with their rating: an import
    may find a highlight that another brought.
    """
    rows: dict[type[Model], QuerySet[Any]] = {}
    for model, path in BROUGHT.items():
        within = {path: dataset.pk, "pk__range": _within(model, keys)}
        rows[model] = model._base_manager.filter(**within)
    rows[Rating] = rows[Rating].filter(rater__in=raters_of_import(dataset, keys).values("pk"))
    rows[Rater] = rows[Rater].exclude(kind=Rater.Kind.AGGREGATE)
    rows[NuggetSpan] = NuggetSpan.objects.filter(rating__in=rows[Rating].values("pk"))
    return rows


def raters_of_files(dataset: Dataset) -> QuerySet[Rater]:
    return Rater.objects.filter(dataset=dataset, judge=None).exclude(kind=Rater.Kind.AGGREGATE)


def raters_of_import(dataset: Dataset, keys: Mapping[str, Any]) -> QuerySet[Rater]:
    """Raters of files, and the judges that an import recorded: those that its files define."""
    return raters_of_files(dataset) | Rater.objects.filter(pk__in=keys.get("judges", []))


def set_aside_within(dataset: Dataset, keys: Mapping[str, Any]) -> Iterator[tuple[Version, int]]:
    """Versions with which grades of an import were set aside, as they are without these, and how many they are.

    The keys are those that the import wrote down; nothing is saved.
    """
    first, last = _within(Rating, keys)
    raters = set(raters_of_import(dataset, keys).values_list("pk", flat=True))
    for version in dataset.versions.exclude(set_aside=[]):
        there = len(version.set_aside)
        version.set_aside = [
            row
            for row in version.set_aside
            if row["rater"] not in raters or not first <= row.get("key", 0) <= last
        ]
        if n := there - len(version.set_aside):
            yield version, n


def had_citations_within(dataset: Dataset, keys: Mapping[str, Any]) -> Iterator[Version]:
    """Versions of reports that had citations of an import with their words, without these; not saved."""
    first, last = _within(Citation, keys)
    if last < first:
        return
    for version in dataset.versions.filter(text__kind=Text.Kind.REPORT).exclude(had={}):
        there = version.had["citations"]
        stays = [row for row in there if not first <= row.get("pk", 0) <= last]
        if len(stays) < len(there):
            version.had["citations"] = stays
            yield version


def _within(model: type[Model], keys: Mapping[str, Any]) -> list[int]:
    """The first and the last key that a row of an import may have; none where it knows of none."""
    within: list[int] = keys.get(model._meta.label_lower, [1, 0])
    return within


def words_for(model: type[Model]) -> str:
    """The table in words: "ranked texts"."""
    return WORDS.get(model) or str(model._meta.verbose_name_plural)


@contextmanager
def _found_by_index() -> Iterator[None]:
    """Inside, attempts are found by their text and question.

    Otherwise they have no such index, for judges write them by the million; and a database that looks
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
