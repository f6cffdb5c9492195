"""Import target: a dataset with its topics in memory, and the problems to report."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import reset_queries
from django.db.models import Max, Model

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.history import known_raters
from annotation.formats.layout import Kind, Source
from annotation.formats.left_out_rows import LeftOutRow, Repeated, RowPosition
from annotation.formats.run_order import RunOrder
from annotation.formats.summary import (
    LIMIT,
    REMEDIES,
    Conversion,
    DatasetImportError,
    ImportSummary,
    Problem,
    quoted_value,
)
from annotation.formats.text_edits import TextEdits
from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic, Version
from annotation.models.rating import Exposure
from annotation.models.standard import STANDARD, add_standard, ensure_standard_rubrics
from annotation.prepared import insert_all


@dataclass(slots=True)
class KnownQuestion:
    pk: int
    position: int
    body: str
    filtered_because: str
    source_body: str = ""
    group: str = ""
    earlier: dict[str, bool] = field(default_factory=dict)
    """Words that it had before, and whether grades that were given to them count."""

    @property
    def filtered(self) -> bool:
        return bool(self.filtered_because)

    @property
    def is_null(self) -> bool:
        """True if annotated reports have a null in its place; an empty question may be "" there."""
        return self.filtered_because not in ("", SubQuestion.EMPTY_REASON)

    @property
    def is_whole(self) -> bool:
        """True if it is the whole request, which qrels append to the other questions."""
        return self.filtered_because == SubQuestion.WHOLE

    @property
    def as_written(self) -> str:
        """Return the body as in its file, with white space at its ends."""
        return self.source_body or self.body

    def reword(self, body: str, *, counts: bool) -> None:
        """Edit the question; `counts`: whether grades of the wordings so far stay valid."""
        self.add_earlier(self.body, counts=counts)
        self.body, self.source_body = body, ""

    def add_earlier(self, body: str, *, counts: bool) -> None:
        """Add an earlier wording, in the order of the edits."""
        self.earlier = {
            earlier_body: earlier_counts and counts
            for earlier_body, earlier_counts in self.earlier.items()
        }
        if body:
            self.earlier[body] = counts

    def is_set_aside(self, body: str) -> bool:
        """Return whether this is an earlier wording whose grades are superseded."""
        return body != self.body and not self.earlier.get(body, True)


@dataclass(slots=True)
class KnownTopic:
    pk: int
    name: str
    request: str
    group: str = ""
    questions: list[KnownQuestion] = field(default_factory=list)

    def of(self, n: int) -> "KnownTopic":
        """Return the topic for a file of `n` questions, which may lack the whole request."""
        if len(self.questions) == n + 1 and self.questions[-1].is_whole:
            return replace(self, questions=self.questions[:-1])
        return self


def topics_of(dataset: Dataset) -> dict[str, KnownTopic]:
    """Return the topics by name, in order."""
    topics = {
        pk: KnownTopic(pk, name, request, group)
        for pk, name, request, group in Topic.objects.filter(dataset=dataset)
        .order_by("position", "pk")
        .values_list("pk", "name", "request", "group")
    }
    questions = SubQuestion.objects.filter(topic__dataset=dataset).order_by("position")
    fields = ("pk", "position", "body", "filtered_because", "source_body", "group")
    for topic, *values in questions.values_list("topic_id", *fields):
        topics[topic].questions.append(KnownQuestion(*values))
    return {topic.name: topic for topic in topics.values()}


SUPERSEDED_MESSAGE = "this is an earlier wording of a question, and its grades are superseded"


def find_question(questions: Sequence[KnownQuestion], body: str) -> KnownQuestion | None:
    """Return the question with this body; else the only one that had it earlier, or None."""
    if current := next((question for question in questions if question.body == body), None):
        return current
    before = [question for question in questions if body in question.earlier]
    return before[0] if len(before) == 1 else None


MAX_UNSOUND = 100_000  # units left out of an import; their list is in memory
LeftOutUnits = dict[tuple[str, Hashable], LeftOutRow]
"""Units of other tools' files that are left out, by file and unit."""
_ROW_KINDS = {
    Kind.TOPICS: "topic",
    Kind.SUBQUESTIONS: "sub-questions",
    Kind.PASSAGES: "passage",
    Kind.REFERENCES: "reference summary",
    Kind.CITED: "report",
    Kind.VALUES: "values",
    Kind.RUN: "ranking of a topic",
    Kind.RATINGS: "rating",
    Kind.GRADES: "grade",
}
_COLUMNS = ("dataset_id", "kind", "system", "topic_id", "name", "sha256")
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class KnownRubric:
    rubric: Rubric
    grades: frozenset[int]


class Target:
    """The dataset during an import, inside one transaction.

    Topics and questions are held in memory, texts and ratings are looked up batch by batch.
    """

    def __init__(
        self,
        dataset: Dataset,
        summary: ImportSummary,
        new_words: TextEdits,
        progress: Progress | None = None,
        run_order: RunOrder = RunOrder.AUTO,
        repeated: Repeated = Repeated.LEAVE_OUT,
        left_out: LeftOutUnits | None = None,
    ) -> None:
        self.repeated = repeated
        self.left_out: LeftOutUnits = {} if left_out is None else left_out
        self._tool_problems: list[Problem] = []
        self._unused_answers: dict[tuple[str, str], list[LeftOutRow]] = {}
        """Answers of annotation tools that are no error and no grade, by file and label."""
        self.n_right = 0
        """Answers of annotation tools that are no error."""
        self.units: dict[str, int] = {}
        """Numbers of units of other tools' files, by file."""
        self.compound_files: frozenset[str] = frozenset()
        """Files whose units become rows of several kinds."""
        self.read_files: set[str] = set()
        """Files of which rows of one kind at least are stored."""
        self.begun: set[tuple[str, Hashable]] = set()
        """Units, by file, of which a row may be stored though another is unsound."""
        self.described_topics: set[str] = set()
        """Topics that a line of these files has described."""
        self.asked_topics: set[str] = set()
        """Topics whose questions a line of these files has."""
        self.is_partial = False
        """True if a unit is left out of which rows may be stored."""
        self.dataset = dataset
        self.run_order = run_order
        self.summary = summary
        for row in self.left_out.values():
            self._list(row, Conversion.UNSOUND)
        self.new_words = new_words
        self.problems: list[Problem] = []
        self._progress = progress
        self._rubrics: dict[str, KnownRubric] = {}
        self.was_empty = _is_empty(dataset)
        self.first_ratings: dict[int, datetime] = {}
        """By rater, when it first rated in the dataset that was exported."""
        self.rated_at: dict[tuple[int, ...], datetime] = {}
        """When single pairs were rated there, by the keys of rater, rubric, text and question."""
        self.positions: dict[tuple[int, ...], list[object]] = {}
        """Earlier positions of the spans of a pair, in their order, by the same keys."""
        self.copied_from: dict[tuple[int, ...], int] = {}
        """The text of equal words whose grade a pair's is, by the same keys."""
        self.exposures: dict[tuple[int, ...], Exposure] = {}
        """Exposure by the keys of a rater and a rubric, or by these with a text and a question."""
        self.last_rating = Rating.objects.aggregate(last=Max("pk"))["last"] or 0
        self.last_version = Version.objects.aggregate(last=Max("pk"))["last"] or 0
        """The last rating before the import."""
        self.named_models: dict[tuple[type[Model], str], set[int]] = {}
        """Keys of rows by their table and the origins, as JSON, that files added to them."""
        self.adopted: set[int] = set()
        """Raters of this site to which files add: judges that are defined in the files alike."""

    # -- problems and progress

    def problem(
        self,
        source: Source | str,
        line: int,
        field: str,
        message: str,
        *,
        refuses: bool = False,
    ) -> None:
        """Record an error, which refuses the import or leaves out the row.

        `refuses`: it refuses the import, also where unsound rows are left out: the row may be right,
        but does not fit to the dataset. Answers of annotation tools are left out all the same.
        Raises DatasetImportError at the limit.
        """
        if isinstance(source, str):
            self.refuse(Problem(source, line, field, message))
            return
        names = source.translation.fields if source.translation else {}
        position = line.description if isinstance(line, RowPosition) else ""
        problem = Problem(source.name, int(line), names.get(field, field), message, position)
        if not (source.leaves_out and isinstance(line, RowPosition)):
            self.refuse(problem)
        elif source.is_of_annotation_tool:
            self._tool_problems.append(problem)
            no_pair = field == names.get("text")
            label = Conversion.NO_PAIR if no_pair else Conversion.WRONG
            self.leave_out(source, line, label, message, problem.field)
        elif refuses:
            self.refuse(problem)
        elif not self.is_left_out(source, line):
            self._leave_out_unit(source, line, problem.field, message)

    def refuse(self, problem: Problem) -> None:
        """Record an error that refuses the import. Raises DatasetImportError at the limit."""
        self.problems.append(problem)
        if len(self.problems) >= LIMIT:
            self.stop_if_wrong()

    def leave_out(
        self,
        source: Source,
        position: RowPosition,
        label: str,
        reason: str = "",
        field: str = "",
    ) -> None:
        """Count and list a part of another tool's file that becomes no row."""
        row = self._left_out_row(source, position, field, reason or str(label))
        if source.is_of_annotation_tool and label in REMEDIES:
            self._unused_answers.setdefault((source.name, label), []).append(row)
        self._list(row, label)

    def is_left_out(self, source: Source, position: int) -> bool:
        """Return whether the unit of this row is left out as a whole."""
        return isinstance(position, RowPosition) and (source.name, position.unit) in self.left_out

    def _leave_out_unit(
        self, source: Source, position: RowPosition, field: str, reason: str
    ) -> None:
        """Leave out and list the unit of a row, with all that becomes of it."""
        unit = source.name, position.unit
        row = self._left_out_row(source, position, field, reason)
        self.left_out[unit] = row
        self._list(row, Conversion.UNSOUND)
        self.is_partial |= (
            unit in self.begun
            or source.name in self.read_files
            or source.kind is Kind.RATINGS  # which creates the texts that they name
        )
        if len(self.left_out) > MAX_UNSOUND:
            self.is_partial = False
            message = f"more than {MAX_UNSOUND:,} rows of these files are unsound"
            self.refuse(Problem(source.name, 0, "", message))
            self.stop_if_wrong()

    def _left_out_row(
        self, source: Source, position: RowPosition, field: str, reason: str
    ) -> LeftOutRow:
        kind = "item" if source.name in self.compound_files else _ROW_KINDS[source.kind]
        return LeftOutRow(
            source.name,
            int(position),
            position.item,
            "answer" if source.is_of_annotation_tool else kind,
            **position.ids,
            field=field,
            reason=reason,
        )

    def _list(self, row: LeftOutRow, label: str) -> None:
        self.summary.mapped[label] += 1
        self.summary.left_out_rows.append(row)

    def refuse_unsound_files(self) -> None:
        """Turn all that is left out of a file into errors, if none of its units is sound."""
        n_left_out = Counter(file for file, _ in self.left_out)
        for (file, _), row in self.left_out.items():
            if n_left_out[file] == self.units.get(file):
                self.refuse(_problem_of(row))

    def refuse_unsound_tools(self) -> None:
        """Turn all answers left out of tools' files into errors, if none of them was valid."""
        if self.n_right:
            return
        for problem in self._tool_problems:
            self.refuse(problem)
        for (file, label), rows in self._unused_answers.items():
            first = rows[0]
            n_more = f" (and {len(rows) - 1:,} more)" if len(rows) > 1 else ""
            message = f"{first.reason}{n_more}. {REMEDIES[Conversion(label)]}"
            self.refuse(Problem(file, first.line, first.field, message, first.position))

    def stop_if_wrong(self) -> None:
        """Raise DatasetImportError if there are errors so far.

        Rows that are left out follow them: they may be the cause.
        """
        if self.problems:
            causes = (_problem_of(row) for row in self.left_out.values())
            more = [problem for problem in causes if problem not in self.problems]
            problems = [*self.problems, *more][:LIMIT]
            self.summary.errors = problems
            raise DatasetImportError(problems, self.summary)

    def progress(self, source: Source, lines: int) -> None:
        # With DEBUG, Django keeps every query with its values: all of the file.
        reset_queries()
        if self._progress:
            self._progress(source.name, lines)

    # -- contents of the dataset

    @cached_property
    def topics(self) -> dict[str, KnownTopic]:
        topics = topics_of(self.dataset)
        by_key = {
            question.pk: question for topic in topics.values() for question in topic.questions
        }
        versions = Version.objects.filter(dataset=self.dataset, question__isnull=False)
        ordered = versions.order_by("question", "number")
        for key, body, counts in ordered.values_list("question_id", "body", "counts"):
            by_key[key].add_earlier(body.strip(), counts=counts)
        return topics

    def topic(self, source: Source, line: int, field: str, name: str) -> KnownTopic | None:
        """Return the topic; None, with an error noted, if the dataset has none of this name."""
        if name not in self.topics:
            self.problem(source, line, field, f"topic {quoted_value(name)} is not in the dataset")
        return self.topics.get(name)

    def topic_key_of_passage(self, name: str) -> int | None:
        """Return the key of a passage's topic, the part of its name before the first colon."""
        topic, colon, _ = name.partition(":")
        return self.topics[topic].pk if colon and topic in self.topics else None

    def rubric(self, slug: str) -> KnownRubric:
        """Return a built-in rubric and its grades."""
        if slug not in self._rubrics:
            if not Rubric.objects.filter(slug=slug).exists():
                ensure_standard_rubrics()
            rubric = Rubric.objects.get(slug=slug)
            self._rubrics[slug] = KnownRubric(rubric, frozenset(rubric.grades()))
        return self._rubrics[slug]

    def rubric_called(self, source: Source, line: int, slug: str) -> KnownRubric | None:
        """Return the rubric of this slug, created if built-in; else None, with an error noted."""
        if slug in STANDARD:
            add_standard(STANDARD[slug])
        elif not Rubric.objects.available_in(self.dataset.project).filter(slug=slug).exists():
            message = (
                f"there is no rubric {quoted_value(slug)}: make it, or put it into rubrics.jsonl"
            )
            self.problem(source, line, "rubric", message, refuses=True)
            return None
        return self.rubric(slug)

    @cached_property
    def _raters(self) -> dict[str, Rater]:
        return known_raters(self.dataset)

    def rater_named(self, name: str) -> Rater | None:
        """Return the rater of this name, if the dataset has one."""
        return self._raters.get(name)

    def adopt(self, name: str, rater: Rater) -> None:
        """Allow grades under this name to be added to a rater of the whole site."""
        self._raters[name] = rater
        self.adopted.add(rater.pk)

    def is_rater_name(self, source: Source, line: int, name: str) -> bool:
        """Return whether this is a valid name of a rater; an error is noted if not."""
        if reason := _bad_slug(name, 120):
            self.problem(source, line, "rater", f"{name}: {reason}", refuses=True)
        return not reason

    def rater(self, source: Source, line: int, name: str, kind: Rater.Kind) -> Rater | None:
        """Return the rater of this name, created if missing; None, with an error, if refused."""
        rater = self._raters.get(name)
        if rater is None:
            if not self.is_rater_name(source, line, name):
                return None
            rater = Rater.objects.create(dataset=self.dataset, name=name, kind=kind)
            self._raters[name] = rater
            self.summary.created["raters"] += 1
        people = (Rater.Kind.HUMAN,)
        if (rater.kind in people) != (kind in people):
            message = f"{name} is a {rater.get_kind_display()} already, not a {kind.label}"
            self.problem(source, line, "rater", message, refuses=True)
            return None
        return rater

    def passages(self, names: Iterable[str]) -> dict[str, int]:
        """Return the keys of passages; missing ones are created without a body."""
        sorted_names = sorted(set(names))
        keys: dict[str, int] = {}
        for batch in batches(sorted_names, LOOK_UP):
            keys.update(self._passages(batch))
            if new := [name for name in batch if name not in keys]:
                passage = self.dataset.pk, Text.Kind.PASSAGE.value, ""
                rows = [(*passage, self.topic_key_of_passage(name), name, "") for name in new]
                insert_all(Text, _COLUMNS, rows)
                keys.update(self._passages(new))
                self.summary.created["passages, without their words"] += len(new)
        return keys

    def references(self, topics: Iterable[str]) -> None:
        """Create the missing reference summaries of these topics, without a body."""
        by_name = {f"{name}:report": self.topics[name].pk for name in topics if name in self.topics}
        for batch in batches(by_name, LOOK_UP):
            stored = self.dataset.texts.filter(kind=Text.Kind.REFERENCE, name__in=batch)
            existing = set(stored.values_list("name", flat=True))
            reference = self.dataset.pk, Text.Kind.REFERENCE.value, ""
            rows = [(*reference, by_name[name], name, "") for name in batch if name not in existing]
            insert_all(Text, _COLUMNS, rows)
            self.summary.created["reference summaries, without their words"] += len(rows)

    def _passages(self, names: list[str]) -> Iterable[tuple[str, int]]:
        passages = Text.objects.filter(
            dataset=self.dataset, kind=Text.Kind.PASSAGE, system="", name__in=names
        )
        return passages.values_list("name", "pk")


def _problem_of(row: LeftOutRow) -> Problem:
    return Problem(row.file, row.line, row.field, row.reason, row.position)


def _is_empty(dataset: Dataset) -> bool:
    """Return True for a dataset without ratings and without text history."""
    return not (dataset.versions.exists() or Rating.objects.of_dataset(dataset).exists())


def _bad_slug(value: str, length: int) -> str:
    try:
        validate_slug(value)
    except ValidationError:
        return "letters, digits, - and _ alone make a name"
    return f"longer than {length} characters" if len(value) > length else ""


def check_dataset(slug: str, title: str) -> None:
    """Raise DatasetImportError for a slug that no URL could hold, or too long a title."""
    if reason := _bad_slug(slug, 80):
        raise DatasetImportError([Problem("dataset", 0, "", f"{quoted_value(slug)}: {reason}")])
    if len(title) > 200 or "\x00" in title:
        raise DatasetImportError([Problem("title", 0, "", "expected 200 characters at most")])
