"""ratings*.jsonl: one rating a line, by whomever, under whichever rubric, of whichever text.

It is the long table as it is exported. Of its keys a line needs rater, rater_kind (or kind), rubric, text,
grade and the question, as its words or as its place; the topic where the text is of none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from annotation.formats import long_table
from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.highlights import Found, as_stated, find
from annotation.formats.layout import Source
from annotation.formats.left_out import AnswerPosition
from annotation.formats.reading import rows
from annotation.formats.records import RatingRow, SpanRow
from annotation.formats.repeated import one_answer_each
from annotation.formats.storing import Given, RatingWriter
from annotation.formats.summary import Mapped, shown
from annotation.formats.target import SET_ASIDE, KnownQuestion, KnownTopic, Target, asked
from annotation.formats.writing import json_line
from annotation.models import Dataset, NuggetSpan, Rater, Text
from annotation.text.spans import ELISION, SpanError, checked, from_shown, from_utf16

_BATCH = 4000
_WITH_SPANS = 500  # of these the texts are looked into, and are in memory for as long
_KINDS = [kind for kind in Rater.Kind.values if kind != Rater.Kind.AGGREGATE]  # that is made here
_OF_THIS_SITE = ("dataset", "judge_version", "filtered", "created")
Line = tuple[int, RatingRow]
_Key = tuple[str, str, str]  # kind, system, name


@dataclass(slots=True)
class _KnownText:
    pk: int
    topic_id: int | None
    sha256: str


def read(target: Target, source: Source) -> None:
    reader = _Reader(target, source)
    given = rows(target, source, RatingRow)
    if source.translation and source.translation.leaves_out:
        given = one_answer_each(target, source, given)
    for batch in _batches(given):
        reader.batch(batch)
    if source.translation and source.translation.leaves_out:
        target.n_right += reader.n


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    with_spans = 0
    for line in lines:
        batch.append(line)
        with_spans += bool(line[1].spans)
        if len(batch) >= _BATCH or with_spans >= _WITH_SPANS:
            yield batch
            batch, with_spans = [], 0
    if batch:
        yield batch


class _Reader:
    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.writers: dict[tuple[str, str, str], RatingWriter | None] = {}
        self.topics = {topic.pk: topic for topic in target.topics.values()}
        self._bodies: dict[int, str | None] = {}
        self.n = 0
        """Lines that are no error."""

    def batch(self, batch: Sequence[Line]) -> None:
        batch = [(line, row) for line, row in batch if self._has_topic(line, row)]
        texts = self._texts(batch)
        by_writer: dict[RatingWriter, list[Given]] = defaultdict(list)
        for line, row in batch:
            writer = self._writer(line, row)
            if row.grade is None:
                self.target.summary.mapped[Mapped.NO_RATING] += 1
                self.n += 1
            elif writer and writer.allows(line, "grade", row.grade):
                given = self._given(line, row, int(row.grade), texts)
                if given is not None:
                    by_writer[writer].append(given)
                    self.n += 1
        for writer, labels in by_writer.items():
            writer.write(labels)

    def _has_topic(self, line: int, row: RatingRow) -> bool:
        """Return True if the topic is here, or the file is all or nothing.

        An answer of a tool that is left out for its topic makes no text.
        """
        if not isinstance(line, AnswerPosition) or not row.topic or row.topic in self.target.topics:
            return True
        return self.target.topic(self.source, line, "topic", row.topic) is not None

    def _texts(self, batch: Sequence[Line]) -> dict[_Key, _KnownText]:
        """The texts that the lines name. Passages that are new are made without words: only named so far.

        So are the reference summaries of topics that lines name.
        """
        named: dict[tuple[str, str], set[str]] = defaultdict(set)
        for _, row in batch:
            named[row.text_kind, row.system].add(row.text)
        texts: dict[_Key, _KnownText] = {}
        for kind, names in named.items():
            self._look_up(*kind, names, texts)
            if kind == (Text.Kind.PASSAGE, ""):
                new = {name for name in names if (*kind, name) not in texts}
                self.target.passages(new)
                self._look_up(*kind, new, texts)
            elif kind == (Text.Kind.REFERENCE, ""):
                new = {name for name in names if (*kind, name) not in texts}
                self.target.references(name.removesuffix(":report") for name in new)
                self._look_up(*kind, new, texts)
        self._bodies = self._read_bodies(batch, texts)
        return texts

    def _look_up(
        self, kind: str, system: str, names: set[str], texts: dict[_Key, _KnownText]
    ) -> None:
        # Kind and system too: the index of names begins with them.
        of_kind = Text.objects.filter(dataset=self.target.dataset, kind=kind, system=system)
        for some in batches(names, LOOK_UP):
            known = of_kind.filter(name__in=some)
            for name, pk, topic, sha256 in known.values_list("name", "pk", "topic_id", "sha256"):
                texts[kind, system, name] = _KnownText(pk, topic, sha256)

    def _read_bodies(
        self, batch: Sequence[Line], texts: dict[_Key, _KnownText]
    ) -> dict[int, str | None]:
        """The words of the texts in which spans are looked for."""
        keys = [(row.text_kind, row.system, row.text) for _, row in batch if row.spans]
        wanted = {texts[key].pk for key in keys if key in texts}
        return dict(Text.objects.filter(pk__in=wanted).values_list("pk", "body")) if wanted else {}

    def _writer(self, line: int, row: RatingRow) -> RatingWriter | None:
        """Who writes what this rater grades under this rubric; None, and an error noted, if nobody can."""
        key = (row.rater, row.rater_kind, row.rubric)
        if key not in self.writers or (isinstance(line, AnswerPosition) and not self.writers[key]):
            # Each answer that is left out is listed with its reason.
            self.writers[key] = self._new_writer(line, row)
        return self.writers[key]

    def _new_writer(self, line: int, row: RatingRow) -> RatingWriter | None:
        rubric = self.target.rubric_called(self.source, line, row.rubric)
        if row.rater_kind not in _KINDS:
            self._problem(line, "rater_kind", _none_of(row.rater_kind, _KINDS))
            return None
        rater = self.target.rater(self.source, line, row.rater, Rater.Kind(row.rater_kind))
        if rater and rater.kind != row.rater_kind:
            message = f"{row.rater} is a {rater.get_kind_display()} already"
            self._problem(line, "rater_kind", message)
            return None
        if not rater or not rubric:
            return None
        return RatingWriter(self.target, self.source, rater, rubric)

    def _given(
        self, line: int, row: RatingRow, grade: int, texts: dict[_Key, _KnownText]
    ) -> Given | None:
        """The rating that a line gives; none, and an error noted, if what it names is not there."""
        text = texts.get((row.text_kind, row.system, row.text))
        if text is None:
            self._no_text(line, row)
            return None
        if row.text_sha256 and text.sha256 and row.text_sha256 != text.sha256:
            self._problem(line, "text_sha256", f"{row.text} has other words in the dataset")
            return None
        topic = self._topic(line, row, text)
        question = topic and self._question(line, row, topic)
        if not question:
            return None
        given = Given(line, "grade", text.pk, row.text, question, grade, offsets=True)
        if row.spans:
            body = self._bodies.get(text.pk)
            try:
                given.spans = self._spans(body, row)
            except SpanError as error:
                self._problem(line, "spans", str(error))
                return None
            given.words = ELISION.join(span.words or span.quote for span in given.spans)
        return given

    def _no_text(self, line: int, row: RatingRow) -> None:
        if row.text_kind not in Text.Kind.values:
            self._problem(line, "text_kind", _none_of(row.text_kind, Text.Kind.values))
            return
        whose = f" of {row.system}" if row.system else ""
        self._problem(line, "text", f"the {row.text_kind} {row.text}{whose} is not in the dataset")

    def _topic(self, line: int, row: RatingRow, text: _KnownText) -> KnownTopic | None:
        if row.topic:
            return self.target.topic(self.source, line, "topic", row.topic)
        if text.topic_id is None:
            self._problem(line, "topic", f"is missing, and {row.text} is of none")
            return None
        return self.topics[text.topic_id]

    def _question(self, line: int, row: RatingRow, topic: KnownTopic) -> KnownQuestion | None:
        """The question of these words, or at this place; where both are given they must be one.

        The words may be those that it had before, where grades of these count.
        """
        questions = topic.questions
        if row.question_index is not None:
            if not row.question_index < len(questions):
                message = f"{topic.name} has {len(questions)} questions, counted from 0"
                self._problem(line, "question_index", message)
                return None
            questions = [questions[row.question_index]]
        if row.question is not None:
            words = row.question.strip()
            question = asked(questions, words)
            if question and question.is_set_aside(words):
                self._problem(line, "question", f"{shown(words)}: {SET_ASIDE}")
                return None
            self.target.summary.mapped[Mapped.EARLIER] += bool(question and question.body != words)
            questions = [question] if question else []
        elif row.question_index is None:
            self._problem(line, "question", "is missing, and question_index too")
            return None
        if not questions:
            message = f"{topic.name} does not ask {shown(row.question)}"
            if row.question_index is not None:
                message += f" at {row.question_index}"
            self._problem(line, "question", message)
            return None
        return questions[0]

    def _spans(self, body: str | None, row: RatingRow) -> list[Found]:
        if row.text_sha256 and any(span.located for span in row.spans):
            return as_stated(body, row.spans)  # of an export that had the words of the text
        return [found for span in row.spans for found in self._found(body, span)]

    def _found(self, body: str | None, span: SpanRow) -> list[Found]:
        if self.source.translation is None:
            return _found(body, span)
        found, moved = _looked_for(body, span, self.source.translation.shown)
        self.target.summary.mapped[Mapped.MOVED] += moved
        self.target.summary.mapped[Mapped.NOWHERE] += any(part.start is None for part in found)
        return found

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)


def _found(body: str | None, span: SpanRow) -> list[Found]:
    """Where the words of a span stand: where the line says, else where they are found."""
    words = span.source_quote or span.quote
    if body is None or span.start is None or span.end is None:
        return find(body, words)
    if not span.quote:
        raise SpanError("a span with its place needs its quote")
    there = checked(body, span.start, span.end, span.quote)
    located = NuggetSpan.Located.NORMALISED if span.source_quote else NuggetSpan.Located.EXACT
    return [Found(there.start, there.end, there.quote, span.source_quote, located)]


def _looked_for(
    body: str | None, span: SpanRow, shown_of: Callable[[str], Sequence[int]] | None
) -> tuple[list[Found], bool]:
    """A span of another tool, and whether it was looked for, since its words are not at its place.

    A place counts code points; or what the tool shows of them, or units of UTF-16, if only so the words are
    there. A place without words counts what is shown.
    """
    words = span.source_quote or span.quote
    if body is None or span.start is None or span.end is None:
        return find(body, words), False
    at = span.start, span.end
    if words.strip() and body[slice(*at)].split() == words.split():
        return find(body, words, [at]), False
    among = shown_of(body) if shown_of else range(len(body))
    place = from_shown(among, *at)
    if not words.strip():
        return [_marked(body, place or at, words)], False
    if place and "".join(body[each] for each in among[slice(*at)]) == words:
        return [_marked(body, place)], False
    units = from_utf16(body, *at)
    if units and body[slice(*units)].split() == words.split():
        return find(body, words, [units]), False
    return find(body, words), True


def _marked(body: str, place: tuple[int, int], words: str = "") -> Found:
    there = checked(body, *place, words or body[slice(*place)])
    return Found(there.start, there.end, there.quote, "", NuggetSpan.Located.EXACT)


def _none_of(value: str, values: Sequence[str]) -> str:
    return f"{shown(value)} is none of {', '.join(values)}"


def lines(dataset: Dataset, ratings: Mapping[int, Q]) -> Iterator[str]:
    """The long table of these ratings, given by rater, without what no file can bring back."""
    for row in long_table.rows(dataset, ratings):
        yield json_line({name: value for name, value in row.items() if name not in _OF_THIS_SITE})
