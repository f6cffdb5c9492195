"""Storing what files say: texts and grades. What is new is made; grades that were there are never changed.

Nor are words, but where an import was told to make versions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Max

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.highlights import Found, as_stated, find, how, relocate, words_of
from annotation.formats.layout import Source
from annotation.formats.left_out import AnswerPosition
from annotation.formats.records import QlabelsRow, QrelsRow
from annotation.formats.summary import Conflict, LocatedCount, Mapped
from annotation.formats.target import KnownQuestion, KnownRubric, Target
from annotation.models import NuggetSpan, Rater, Rating, Text, digest
from annotation.prepared import insert_all
from annotation.text.versions import RewordingRefused, had_before

_NOUNS = {
    Text.Kind.PASSAGE: "passages",
    Text.Kind.REPORT: "reports",
    Text.Kind.REFERENCE: "reference summaries",
}
_COLUMNS = ("dataset_id", "topic_id", "kind", "system", "name", "body", "sha256")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A text as a line of a file gives it; `field` names its words in that file."""

    line: int
    field: str
    name: str
    body: str
    topic_id: int | None
    system: str = ""
    file: str = ""  # where the file is a folder of passages


def store(target: Target, source: Source, kind: Text.Kind, incoming: Sequence[Incoming]) -> None:
    """Make the texts that are new and fill those that have no words yet.

    A text that is there with other words is an error, or gets a version, as the import was told. Two lines
    that give one text other words are an error.
    """
    summary = target.summary.file(source.name)
    dataset = target.dataset.pk
    texts: dict[tuple[str, str], Incoming] = {}
    for text in incoming:
        first = texts.setdefault((text.system, text.name), text)
        if first is not text:
            if first.body != text.body:
                message = f"{text.name} has other words on line {first.line}"
                target.problem(text.file or source, text.line, text.field, message)
            elif kind != Text.Kind.REFERENCE:  # every report of a topic brings its reference
                target.summary.mapped[Mapped.REPEATED] += 1
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
        pk, before = stored.get(key, (None, ""))
        if pk is None:
            new.append((dataset, text.topic_id, kind.value, *key, text.body, sha256))
        elif not before:
            filled.append(Text(pk=pk, body=text.body, sha256=sha256))
            target.new_words.tell(Text, pk)
        elif before == sha256:
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
        target.summary.mapped[Mapped.RELOCATED] += relocate([text.pk for text in filled])


def _reword(target: Target, source: Source, pk: int, text: Incoming) -> None:
    thing = Text.objects.select_related("dataset__project", "topic").get(pk=pk)
    if target.new_words.may_be_earlier and had_before(thing, text.body):
        target.summary.mapped[Mapped.BEFORE_CHANGE] += 1
        target.summary.file(source.name).unchanged += 1
        return
    try:
        target.new_words.give(thing, text.body, f"{text.file or source.name}, line {text.line}")
    except RewordingRefused as refused:
        message = f"{text.name} is in the dataset with other words: {refused}"
        target.problem(text.file or source, text.line, text.field, message)


_TOLD = 100  # characters of a highlight in a conflict


@dataclass(slots=True)
class Given:
    """A grade as a line of a file gives it. `words` are its highlight as the file has it."""

    line: int
    place: str  # the field of the line
    text_id: int
    text: str
    question: KnownQuestion
    grade: int
    words: str = ""
    spans: Sequence[Found] = ()
    offsets: bool = False  # whether the file says where the words stand

    def add_spans(self, body: str | None, row: QlabelsRow | QrelsRow, index: str) -> None:
        """Add the spans that a line states, or those of its words. Raises SpanError."""
        if index in row.spans:
            self.offsets = True
            self.spans = as_stated(body, row.spans[index])
            return
        offsets = row.offsets.get(index, [])
        self.offsets = bool(offsets)
        self.spans = find(body, self.words, offsets)

    def spans_field(self, row: QlabelsRow | QrelsRow) -> str:
        """The field of the line in which its spans are."""
        index = str(self.question.position)
        return f"spans.{index}" if index in row.spans else f"offsets.{index}"


class RatingWriter:
    """Writes the grades of one rater from one file under one rubric, a batch of lines at a time."""

    def __init__(self, target: Target, source: Source, rater: Rater, rubric: KnownRubric) -> None:
        self.target = target
        self.source = source
        self.rater = rater
        self.rubric = rubric
        self.summary = target.summary.file(source.name)
        # Whatever has a greater key was written from this very file.
        self._last_before = Rating.objects.aggregate(last=Max("pk"))["last"] or 0

    def allows(self, line: int, place: str, grade: float) -> bool:
        """Return True if the rubric has this grade; otherwise an error is recorded."""
        if grade in self.rubric.grades:
            return True
        grades = ", ".join(str(level) for level in sorted(self.rubric.grades))
        message = f"{grade} is no grade of the rubric {self.rubric.rubric.slug} ({grades})"
        self.target.problem(self.source, line, place, message)
        return False

    def write(self, labels: Sequence[Given]) -> None:
        """Make the ratings that are new; compare the others with what is stored."""
        first: dict[tuple[int, int], Given] = {}
        for label in labels:
            other = first.setdefault((label.text_id, label.question.pk), label)
            if other is not label:
                self._again(label, other.grade, other.words)
        new = self._without_stored(first)
        if new and self.rater.dataset_id is None and self.rater.pk not in self.target.adopted:
            message = (
                f"{self.rater} is an account or judge of this site: no file adds to its grades"
            )
            for label in new if isinstance(new[0].line, AnswerPosition) else new[:1]:
                self.target.problem(self.source, label.line, label.place, message)
            return
        self._make(new)

    def _without_stored(self, labels: dict[tuple[int, int], Given]) -> list[Given]:
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
                self._again(labels[pair], grade, words_of(spans.get(pk, [])))
            else:
                self._compare(labels[pair], grade, spans.get(pk, []))
        return [label for pair, label in labels.items() if pair not in stored]

    def _again(self, label: Given, grade: int, words: str) -> None:
        """A pair that an earlier line of this file has rated: it must say the same."""
        if label.grade != grade or label.words.strip() != words.strip():
            message = f"an earlier line grades {label.text} otherwise"
            self.target.problem(self.source, label.line, label.place, message)
        else:
            self.target.summary.mapped[Mapped.REPEATED] += 1

    def _compare(self, label: Given, grade: int, spans: list[NuggetSpan]) -> None:
        words = words_of(spans)
        if label.grade != grade:
            self._conflict(label, "grade", str(grade), str(label.grade))
        elif label.words.strip() != words.strip() or (
            label.offsets
            and [(span.start, span.end) for span in label.spans]
            != [(span.start, span.end) for span in spans]
        ):
            self._conflict(label, "highlight", words[:_TOLD], label.words[:_TOLD])
        else:
            self.summary.unchanged += 1

    def _conflict(self, label: Given, what: str, stored: str, other: str) -> None:
        self.target.summary.conflict(
            Conflict(
                file=self.source.name,
                line=label.line,
                rater=self.rater.name,
                text=label.text,
                question=label.question.position,
                what=what,
                stored=stored,
                other=other,
            )
        )

    def _make(self, new: list[Given]) -> None:
        grades = [(label.text_id, label.question.pk, label.grade) for label in new]
        keys = self.rater.pk, self.rubric.rubric.pk
        self.summary.created += len(grades)
        self.target.summary.created["ratings"] += len(grades)
        if not any(label.spans for label in new):
            Rating.objects.add_many(*keys, grades)
            return
        ratings = Rating.objects.add(*keys, grades)
        spans = NuggetSpan.objects.bulk_create(
            span.span(rating.pk, position)
            for rating, label in zip(ratings, new, strict=True)
            for position, span in enumerate(label.spans)
        )
        self.target.summary.created["nugget spans"] += len(spans)


class HighlightCount:
    """Counts how the highlights of one file were located."""

    def __init__(self, target: Target, source: Source, rater: str, rubric: KnownRubric) -> None:
        self._count = LocatedCount(source.name, rater, rubric.rubric.slug)
        self._rubric = rubric.rubric
        target.summary.located.append(self._count)

    def add(self, label: Given) -> None:
        located = how(label.spans)
        if located != "none" or self._rubric.rests_on_words(label.grade):
            setattr(self._count, located, getattr(self._count, located) + 1)


def _spans_of(rating_ids: Iterable[int]) -> dict[int, list[NuggetSpan]]:
    spans: dict[int, list[NuggetSpan]] = {}
    for keys in batches(rating_ids, LOOK_UP):
        for span in NuggetSpan.objects.filter(rating__in=keys).order_by("rating", "position"):
            spans.setdefault(span.rating_id, []).append(span)
    return spans
