"""Storing of imported texts and grades: new ones are created, stored grades never change.

Nor do bodies, unless the import was told to create versions.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Max

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.highlights import (
    LocatedSpan,
    joined_quotes,
    locate_highlight,
    located_kind,
    relocate,
    spans_from_rows,
)
from annotation.formats.layout import Source
from annotation.formats.records import QlabelsRow, QrelsRow, TextKey
from annotation.formats.summary import Conflict, Conversion, LocatedCount, quoted_value
from annotation.formats.target import KnownQuestion, KnownRubric, Target
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Text, digest
from annotation.models.rating import Exposure
from annotation.models.rubric import grade_of_label
from annotation.prepared import insert_all
from annotation.text.versions import TextEditError, was_earlier_wording

_NOUNS = {
    Text.Kind.PASSAGE: "passages",
    Text.Kind.REPORT: "reports",
    Text.Kind.REFERENCE: "reference summaries",
}
_COLUMNS = ("dataset_id", "topic_id", "kind", "system", "name", "body", "sha256")


@dataclass(frozen=True, slots=True)
class ImportedText:
    """A text of a line; `field` names its body in that file."""

    line: int
    field: str
    name: str
    body: str
    topic_id: int | None
    system: str = ""
    file: str = ""  # where the file is a folder of passages


def store_texts(
    target: Target, source: Source, kind: Text.Kind, incoming: Sequence[ImportedText]
) -> None:
    """Create new texts and fill those without a body.

    A text that is stored with another body is an error, or gets a version, by the import's option.
    Two lines that give one text different bodies are an error.
    """
    summary = target.summary.file(source.name)
    dataset = target.dataset.pk
    texts: dict[tuple[str, str], ImportedText] = {}
    for text in incoming:
        first = texts.setdefault((text.system, text.name), text)
        if first is not text:
            if first.body != text.body and target.is_left_out(source, first.line):
                target.is_partial = True  # without the first line this one may be sound
            elif first.body != text.body:
                message = f"{text.name} has other words on line {first.line}"
                target.problem(text.file or source, text.line, text.field, message)
            elif kind != Text.Kind.REFERENCE:  # every report of a topic brings its reference
                target.summary.mapped[Conversion.REPEATED] += 1
    stored = {
        (system, name): (pk, sha256)
        for pk, system, name, sha256 in Text.objects.filter(
            dataset=target.dataset,
            kind=kind,
            system__in={system for system, _ in texts},  # else the index of names is no help
            name__in={name for _, name in texts},
        ).values_list("pk", "system", "name", "sha256")
    }
    new, filled = [], []
    for key, text in texts.items():
        sha256 = digest(text.body)
        pk, stored_sha256 = stored.get(key, (None, ""))
        if pk is None:
            new.append((dataset, text.topic_id, kind.value, *key, text.body, sha256))
        elif not stored_sha256:
            filled.append(Text(pk=pk, body=text.body, sha256=sha256))
            target.new_words.tell(Text, pk)
        elif stored_sha256 == sha256:
            summary.unchanged += 1
            target.new_words.tell(Text, pk)
        else:
            _reword(target, source, pk, text)
    insert_all(Text, _COLUMNS, new)
    summary.created += len(new)
    target.summary.created[_NOUNS[kind]] += len(new)
    if filled:
        Text.objects.bulk_update(filled, ["body", "sha256"])
        summary.filled += len(filled)
        target.summary.mapped[Conversion.RELOCATED] += relocate([text.pk for text in filled])


def _reword(target: Target, source: Source, pk: int, text: ImportedText) -> None:
    stored = Text.objects.select_related("dataset__project", "topic").get(pk=pk)
    if target.new_words.may_be_earlier and was_earlier_wording(stored, text.body):
        target.summary.mapped[Conversion.BEFORE_CHANGE] += 1
        target.summary.file(source.name).unchanged += 1
        return
    try:
        target.new_words.give(stored, text.body, f"{text.file or source.name}, line {text.line}")
    except TextEditError as refused:
        message = f"{text.name} is in the dataset with other words: {refused}"
        refuses = not target.new_words.is_in_files(Text, pk)
        target.problem(text.file or source, text.line, text.field, message, refuses=refuses)


_MAX_QUOTE = 100  # characters of a highlight in a conflict


@dataclass(slots=True)
class ImportedGrade:
    """A grade of a line. `quote` is that of its highlight as in the file."""

    line: int
    field: str  # of the line
    text_id: int
    text: str
    question: KnownQuestion
    grade: int
    quote: str = ""
    spans: Sequence[LocatedSpan] = ()
    exposure: Exposure = Exposure.UNKNOWN
    offsets: bool = False  # whether the file says where the words stand

    def add_spans(self, body: str | None, row: QlabelsRow | QrelsRow, index: str) -> None:
        """Add the spans that a line states, or those of its quote. Raises SpanError."""
        if index in row.spans:
            self.offsets = True
            self.spans = spans_from_rows(body, row.spans[index])
            return
        offsets = row.offsets.get(index, [])
        self.offsets = bool(offsets)
        self.spans = locate_highlight(body, self.quote, offsets)

    def spans_field(self, row: QlabelsRow | QrelsRow) -> str:
        """Return the field of the line that holds its spans."""
        index = str(self.question.position)
        return f"spans.{index}" if index in row.spans else f"offsets.{index}"


class RatingWriter:
    """Writer of one rater's grades under one rubric from one file, in batches of lines."""

    def __init__(self, target: Target, source: Source, rater: Rater, rubric: KnownRubric) -> None:
        self.target = target
        self.source = source
        self.rater = rater
        self.rubric = rubric
        self.summary = target.summary.file(source.name)
        # Ratings with greater keys were written from this file.
        self._last_before = Rating.objects.aggregate(last=Max("pk"))["last"] or 0

    def allows(self, line: int, field: str, grade: float) -> bool:
        """Return True if the rubric has this grade; otherwise an error is recorded."""
        if grade in self.rubric.grades:
            return True
        rubric = self.rubric.rubric
        message = f"{grade} is no grade of the rubric {rubric.slug} ({rubric.grades_in_words()})"
        self.target.problem(self.source, line, field, message)
        return False

    def grade_of_labels(self, line: int, labels: Sequence[str]) -> int | None:
        """Return the grade of a set of labels by name or words; None, with an error noted.

        A choice in an annotation tool may be a level of a rubric of one grade.
        """
        rubric = self.rubric.rubric
        if self.source.is_of_annotation_tool and len(labels) == 1 and not rubric.is_multi_label:
            return self._grade_of_level(line, labels[0])
        if not rubric.is_multi_label:
            message = f"is a list, and the rubric {rubric.slug} takes one grade for each pair"
            self.target.problem(self.source, line, "grade", message)
            return None
        grade = 0
        for label in labels:
            if label not in self.label_grades:
                labels_there = ", ".join(self.label_grades)
                message = f"{quoted_value(label)} is no label of the rubric {rubric.slug} ({labels_there})"
                self.target.problem(self.source, line, "grade", message)
                return None
            grade |= self.label_grades[label]
        return grade

    def _grade_of_level(self, line: int, label: str) -> int | None:
        """Return the grade of a level by name or words, in any case; None, with an error noted."""
        grades = {
            level.grade
            for level in self.rubric.rubric.levels.all()
            if label.casefold() in (level.label.casefold(), level.name.casefold())
        }
        if len(grades) == 1:
            return grades.pop()
        rubric = self.rubric.rubric
        message = (
            f"{quoted_value(label)} is no grade of the rubric {rubric.slug} "
            f"({rubric.grades_in_words()}), nor the words of one"
        )
        self.target.problem(self.source, line, "grade", message)
        return None

    @cached_property
    def label_grades(self) -> dict[str, int]:
        """The grades that each label of a multi-label rubric makes alone, by name and words."""
        levels = self.rubric.rubric.levels.order_by("grade")
        return {
            name: grade_of_label(level.grade)
            for level in levels
            for name in (level.label, level.name)
            if name
        }

    def write(self, labels: Sequence[ImportedGrade]) -> None:
        """Create the ratings that are new; compare the others with what is stored."""
        first: dict[tuple[int, int], ImportedGrade] = {}
        for label in labels:
            earlier = first.setdefault((label.text_id, label.question.pk), label)
            if earlier is not label:
                self._check_repeat(label, earlier.grade, earlier.quote)
        new = self._without_stored(first)
        if new and self.rater.dataset_id is None and self.rater.pk not in self.target.adopted:
            message = (
                f"{self.rater} is an account or judge of this site: no file adds to its grades"
            )
            for label in new if self.source.is_of_annotation_tool else new[:1]:
                self.target.problem(self.source, label.line, label.field, message, refuses=True)
            return
        self._make(new)

    def _without_stored(self, labels: dict[tuple[int, int], ImportedGrade]) -> list[ImportedGrade]:
        stored = {
            (text, question): (pk, grade)
            for pk, text, question, grade in Rating.objects.filter(
                rater=self.rater,
                rubric=self.rubric.rubric,
                text__in={text for text, _ in labels},
            ).values_list("pk", "text_id", "question_id", "grade")
            if (text, question) in labels
        }
        spans = _spans_of(pk for pk, _ in stored.values())
        for pair, (pk, grade) in stored.items():
            if pk > self._last_before:
                self._check_repeat(labels[pair], grade, joined_quotes(spans.get(pk, [])))
            else:
                self._compare(labels[pair], grade, spans.get(pk, []))
        return [label for pair, label in labels.items() if pair not in stored]

    def _check_repeat(self, label: ImportedGrade, grade: int, quote: str) -> None:
        """Check that a pair rated by an earlier line of this file has the same grade and quote."""
        if label.grade != grade or label.quote.strip() != quote.strip():
            message = f"an earlier line grades {label.text} otherwise"
            self.target.problem(self.source, label.line, label.field, message)
        else:
            self.target.summary.mapped[Conversion.REPEATED] += 1

    def _compare(self, label: ImportedGrade, grade: int, spans: list[NuggetSpan]) -> None:
        quote = joined_quotes(spans)
        if label.grade != grade:
            self._conflict(label, "grade", str(grade), str(label.grade))
        elif label.quote.strip() != quote.strip() or (
            label.offsets
            and [(span.start, span.end) for span in label.spans]
            != [(span.start, span.end) for span in spans]
        ):
            self._conflict(label, "highlight", quote[:_MAX_QUOTE], label.quote[:_MAX_QUOTE])
        else:
            self.summary.unchanged += 1

    def _conflict(self, label: ImportedGrade, aspect: str, stored: str, imported: str) -> None:
        self.target.summary.conflict(
            Conflict(
                file=self.source.name,
                line=label.line,
                rater=self.rater.name,
                text=label.text,
                question=label.question.position,
                what=aspect,
                stored=stored,
                other=imported,
            )
        )

    def _make(self, new: list[ImportedGrade]) -> None:
        for exposure in sorted({label.exposure for label in new}):
            self._make_exposed([label for label in new if label.exposure == exposure], exposure)

    def _make_exposed(self, new: list[ImportedGrade], exposure: Exposure) -> None:
        grades = [(label.text_id, label.question.pk, label.grade) for label in new]
        keys = self.rater.pk, self.rubric.rubric.pk
        self.summary.created += len(grades)
        self.target.summary.created["ratings"] += len(grades)
        if not any(label.spans for label in new):
            Rating.objects.add_many(*keys, grades, exposure)
            return
        ratings = Rating.objects.add(*keys, grades, exposure)
        spans = NuggetSpan.objects.bulk_create(
            span.span(rating.pk, position)
            for rating, label in zip(ratings, new, strict=True)
            for position, span in enumerate(label.spans)
        )
        self.target.summary.created["nugget spans"] += len(spans)


def text_ids(dataset: Dataset, texts: Iterable[TextKey]) -> dict[TextKey, int]:
    """Return the primary keys of the texts of a dataset that have these natural keys."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind, system, name in texts:
        names[kind, system].add(name)
    keys: dict[TextKey, int] = {}
    for (kind, system), of_system in names.items():
        for batch in batches(sorted(of_system), LOOK_UP):
            rows = dataset.texts.filter(kind=kind, system=system, name__in=batch)
            keys |= {(kind, system, name): pk for name, pk in rows.values_list("name", "pk")}
    return keys


def new_ratings(
    target: Target, pairs: Iterable[tuple[int, ...]]
) -> Iterator[dict[tuple[int, ...], Rating]]:
    """Yield the ratings that an import created of these pairs, in batches, by pair.

    A pair has the keys of rater, rubric, text and question.
    """
    names = ("rater_id", "rubric_id", "text_id", "question_id")
    for batch in batches(pairs, LOOK_UP):
        ratings = Rating.objects.filter(
            pk__gt=target.last_rating,
            text__in={text for _, _, text, _ in batch},
            rater__in={rater for rater, *_ in batch},
        )
        by_pair = {
            tuple(getattr(rating, name) for name in names): rating
            for rating in ratings.only(*names)
        }
        yield {pair: by_pair[pair] for pair in batch if pair in by_pair}


class HighlightCount:
    """Counter of the highlights of one file by `located`."""

    def __init__(self, target: Target, source: Source, rater: str, rubric: KnownRubric) -> None:
        self._count = LocatedCount(source.name, rater, rubric.rubric.slug)
        self._rubric = rubric.rubric
        target.summary.located.append(self._count)

    def add(self, label: ImportedGrade) -> None:
        located = located_kind(label.spans)
        if located != "none" or self._rubric.needs_spans(label.grade):
            setattr(self._count, located, getattr(self._count, located) + 1)


def _spans_of(rating_ids: Iterable[int]) -> dict[int, list[NuggetSpan]]:
    spans: dict[int, list[NuggetSpan]] = {}
    for keys in batches(rating_ids, LOOK_UP):
        for span in NuggetSpan.objects.filter(rating__in=keys).order_by("rating", "position"):
            spans.setdefault(span.rating_id, []).append(span)
    return spans
