"""Reader of mapped tables: topics, texts, ratings, values and runs by their roles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from annotation.formats.summary import quoted_value
from annotation.formats.tables.cells import Cell, TableError
from annotation.formats.tables.citation_marks import split_marks
from annotation.formats.tables.duplicates import TextKey
from annotation.formats.tables.lists import ListError, items_of
from annotation.formats.tables.mapped_table import MappedTable
from annotation.formats.tables.mapping import (
    RATER_KINDS,
    TEXT_KINDS,
    Column,
    Role,
)
from annotation.formats.tables.rankings import Origin
from annotation.formats.tables.source import is_empty
from annotation.formats.tables.study import QuestionIndex, Study
from annotation.formats.tables.values import (
    CellError,
    cut_grade,
    is_missing,
    name_of,
    number_of,
    text_of,
)

QRELS = "qrels-1"  # rubric of ideal contexts
MAX_QUESTIONS = 1000  # of a topic
_DEFAULT_KIND = "human"


def read_table(study: Study, index: int, mapped: MappedTable) -> int:
    """Add the rows of a table to the study; return their number.

    Raises DatasetImportError at the limit of errors.
    """
    reader = _Reader(study, index, mapped)
    n = last = 0
    try:
        for number, cells in mapped.rows():
            n += number != last  # a preset may make several rows of one
            last = number
            reader.read(number, cells)
    except TableError as error:
        study.problems.add(f"{mapped.table.file}{error.location}", "", str(error))
    return n


@dataclass(frozen=True)
class _Row:
    """Row of a table: where it is, and its cells by header."""

    origin: Origin
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class _Shared:
    """Topic, question and text that all cells of a row share."""

    row: _Row
    topic: str
    question: QuestionIndex
    text: TextKey | None


class _Reader:
    def __init__(self, study: Study, index: int, mapped: MappedTable) -> None:
        self.study = study
        self.index = index
        self.mapped = mapped
        self.constants = mapped.mapping.constants
        self.decimal = mapped.mapping.decimal or "."
        self.missing = frozenset(mapped.mapping.missing)
        self.by_role: dict[str, list[tuple[str, Column]]] = {}
        for header, column in mapped.columns.items():
            self.by_role.setdefault(column.role, []).append((header, column))
        self.repeats: dict[str, None] = {}

    def read(self, number: int, cells: Mapping[str, Cell]) -> None:
        """Add a row to the study: its texts, then its grades, values and comments."""
        row = _Row((self.index, number), cells)
        bodies = self.by_role.get(Role.BODY, [])
        if len(bodies) < 2:
            header, constants = (bodies[0][0], bodies[0][1].constants) if bodies else ("", {})
            if shared := self._text_of_row(row, header, constants):
                self._ratings(shared)
            return
        shared = None
        for header, column in bodies:
            if not is_empty(row.cells.get(header)):
                shared = self._text_of_row(row, header, column.constants) or shared
        if shared:
            self._ratings(_Shared(row, shared.topic, shared.question, None))

    def _text_of_row(self, row: _Row, header: str, constants: Mapping[str, str]) -> _Shared | None:
        """Add the text in a column with its topic, question and lists; None for a broken topic."""
        topic = self._topic(row, constants)
        if topic is None:
            return None
        body = self._body(row, header)
        system = self._system(row, constants)
        question = self._question(row, topic, constants) if topic else None
        passages = self._contexts(row, topic, system)
        text = self._text(row, topic, system, body, constants, passages)
        shared = _Shared(row, topic, question, text)
        self._reference(shared)
        self._gold(shared)
        self._rank(shared)
        return shared

    def _ratings(self, shared: _Shared) -> None:
        """Add the grades, values and comments of a row.

        In a row with several texts each of their columns must name the system or the text.
        """
        for header, column in self.by_role.get(Role.GRADE, []):
            self._grade(shared, header, column)
        if Role.GRADE not in self.by_role and Role.GRADE in self.constants:
            self._grade(shared, "", Column(role=Role.GRADE))
        for header, column in self.by_role.get(Role.VALUE, []):
            self._value(shared, header, column)
        for header, column in self.by_role.get(Role.COMMENT, []):
            self._comment(shared, header, column)

    # -- single roles

    def _name(self, row: _Row, role: str, constants: Mapping[str, str] = {}) -> str:
        """Return the id or name of a role in a row: by its column, else by a constant."""
        header = self._header(role)
        try:
            value = name_of(row.cells.get(header)) if header else ""
        except CellError as error:
            self.study.problem(row.origin, role, str(error), header)
            return ""
        return value or constants.get(role, "") or self.constants.get(role, "")

    def _number(self, row: _Row, role: str, constants: Mapping[str, str] = {}) -> float | None:
        """Return the number of a role in a row; None where there is none, or an error was noted."""
        header = self._header(role)
        cell = constants.get(role) or (
            row.cells.get(header) if header else self.constants.get(role)
        )
        if is_empty(cell):
            return None
        try:
            return number_of(cell, self.decimal)
        except CellError as error:
            self.study.problem(row.origin, role, str(error), header)
            return None

    def _header(self, role: str) -> str:
        columns = self.by_role.get(role, [])
        return columns[0][0] if columns else ""

    def _body(self, row: _Row, header: str) -> str:
        if not header:
            return self.constants.get(Role.BODY, "")
        try:
            return text_of(row.cells.get(header))
        except CellError as error:
            self.study.problem(row.origin, Role.BODY, str(error), header)
            return ""

    def _topic(self, row: _Row, constants: Mapping[str, str]) -> str | None:
        """Return the topic's name; "" for a row without one, None with an error noted."""
        name = self._name(row, Role.TOPIC, constants)
        request = self._name(row, Role.REQUEST, constants)
        if not name and not request:
            return ""
        group = self._name(row, Role.GROUP, constants)
        return self.study.topic(row.origin, name, request, group) or None

    def _question(self, row: _Row, topic: str, constants: Mapping[str, str]) -> QuestionIndex:
        question = constants.get(Role.QUESTION) or self._name(row, Role.QUESTION)
        index = None
        for role, start in ((Role.QUESTION_NUMBER, 1), (Role.QUESTION_INDEX, 0)):
            number = self._number(row, role, constants)
            if number is None:
                continue
            if number.is_integer() and start <= number < MAX_QUESTIONS + start:
                index = int(number) - start
            else:
                message = f"must be a whole number from {start} to {MAX_QUESTIONS - 1 + start}"
                self.study.problem(row.origin, role, message, self._header(role))
        return self.study.question(row.origin, topic, question, index)

    def _system(self, row: _Row, constants: Mapping[str, str]) -> str:
        name = constants.get(Role.SYSTEM, "") or self._name(row, Role.SYSTEM)
        if not name:
            return ""
        if repeat := self._name(row, Role.REPEAT):
            header = self._header(Role.REPEAT)
            if repeat not in ("1", "") or self._has_repeats(header):
                label = "".join(filter(str.isalpha, header.rpartition("_")[2].lower()))
                name = f"{name}.{label or 'run'}{repeat}"
        return self.study.system(row.origin, name)

    def _has_repeats(self, header: str) -> bool:
        """Return whether the column of attempts has several values."""
        if not self.repeats:
            self.repeats = {
                name_of(cells.get(header)): None for _, cells in self.mapped.table.rows()
            }
        return len([value for value in self.repeats if value]) > 1

    def _kind(self, row: _Row, system: str, constants: Mapping[str, str]) -> str:
        kind = self._name(row, Role.KIND, constants).casefold()
        if not kind:
            return "report" if system else "passage"
        if kind not in TEXT_KINDS:
            message = f"{quoted_value(kind)} is none of {', '.join(TEXT_KINDS)}"
            self.study.problem(row.origin, Role.KIND, message, self._header(Role.KIND))
            return "passage"
        return kind

    def _text(
        self,
        row: _Row,
        topic: str,
        system: str,
        body: str,
        constants: Mapping[str, str],
        passages: Sequence[str],
    ) -> TextKey | None:
        name = self._name(row, Role.TEXT, constants)
        kind = self._kind(row, system, constants)
        if (
            not name
            and not body.strip()
            and not (kind == "report" and topic and self._names_reports())
        ):
            return None
        if kind == "passage" and name and self.mapped.mapping.passages_of == "topic" and topic:
            name = f"{topic}:{name}"
        statements: list[dict[str, Any]] = []
        if kind == "report" and body and self._citations():
            body, statements = split_marks(body, passages)
        return self.study.text(row.origin, kind, system, name, topic, body, statements)

    def _names_reports(self) -> bool:
        """Return whether rows without words are about the report of their topic and system."""
        return Role.BODY not in self.by_role and any(
            role in self.by_role or role in self.constants
            for role in (Role.GRADE, Role.VALUE, Role.COMMENT)
        )

    def _citations(self) -> bool:
        return self.constants.get(Role.CITATIONS) == "marks"

    # -- lists

    def _items(self, row: _Row, role: str) -> list[object] | None:
        """Return the items of a list; None where the table has no such column."""
        columns = self.by_role.get(role, [])
        if not columns:
            return None
        header, column = columns[0]
        cell = row.cells.get(header)
        is_absent = is_empty(cell) if role == Role.REFERENCE else is_missing(cell)
        try:
            if is_absent:
                return []
            return items_of(cell, column.split, are_names=role == Role.CONTEXT_IDS)
        except ListError as error:
            self.study.problem(row.origin, role, str(error), header)
            return []

    def _contexts(self, row: _Row, topic: str, system: str) -> list[str]:
        """Add the passages of a row's list and their ranking; return their names by position.

        A blank item has no name: marks in a report count it.
        """
        items = self._items(row, Role.CONTEXTS)
        ids = self._items(row, Role.CONTEXT_IDS)
        if items is None and ids is None:
            return []
        if items is not None and ids and len(ids) != len(items):
            message = f"has {len(ids)} ids for {len(items)} contexts"
            self.study.problem(
                row.origin, Role.CONTEXT_IDS, message, self._header(Role.CONTEXT_IDS)
            )
            return []
        names = []
        for position, item in enumerate(items if items is not None else ids or []):
            name, body = self._passage(item)
            if items is None:
                name, body = "" if item is None else str(item), ""
            elif ids:
                name = str(ids[position])
            if self._is_blank(name, body):
                names.append("")
                continue
            key = self.study.text(row.origin, "passage", "", name.strip(), topic, body)
            if key:
                names.append(key[2])
        ranked = [name for name in names if name]
        run = self._name(row, Role.RUN)
        run = self.study.system(row.origin, run) if run else system
        if ranked and not run:
            self.study.problem(
                row.origin, "system", "is missing: whose contexts are these? Set one as system=NAME"
            )
        elif ranked and topic:
            self.study.ranking(row.origin, run, topic, ranked)
        return names

    def _is_blank(self, name: str, body: str) -> bool:
        """Return whether a passage has neither a name nor words, and count it."""
        is_blank = not name.strip() and not body.strip()
        self.study.counts["passages of lists without words: left out"] += is_blank
        return is_blank

    def _passage(self, item: object) -> tuple[str, str]:
        """Return the id and the text of a passage, which is a string or an object with known keys."""
        if item is None:
            return "", ""
        if not isinstance(item, dict):
            return "", text_of(item) if isinstance(item, str | int | float) else json.dumps(item)
        name = _first(item, ("doc_id", "document.id", "id", "docid", "pid", "passage_id"))
        body = _first(
            item,
            ("text", "document.content", "content", "page_content", "contents", "body", "passage"),
        )
        return str(name or ""), str(body or "")

    def _reference(self, shared: _Shared) -> None:
        items = self._items(shared.row, Role.REFERENCE)
        texts = [text_of(item) for item in items or [] if isinstance(item, str) and item.strip()]
        if texts and shared.topic:
            self.study.text(shared.row.origin, "reference", "", "", shared.topic, texts[0])
            self.study.counts["further references of a topic: the first is kept"] += len(texts) - 1

    def _gold(self, shared: _Shared) -> None:
        for header, column in self.by_role.get(Role.GOLD, []):
            cell = shared.row.cells.get(header)
            try:
                items = [] if is_missing(cell) else items_of(cell, column.split)
            except ListError as error:
                self.study.problem(shared.row.origin, Role.GOLD, str(error), header)
                continue
            rater = self.study.rater(shared.row.origin, header) if items else ""
            for item in items:
                name, body = self._passage(item)
                if self._is_blank(name, body):
                    continue
                key = self.study.text(shared.row.origin, "passage", "", name, shared.topic, body)
                if key and shared.topic:
                    self.study.rating(
                        shared.row.origin,
                        rater=rater,
                        rater_kind="baseline",
                        rubric=QRELS,
                        topic=shared.topic,
                        question=None,
                        text=key,
                        grade=1,
                    )

    def _rank(self, shared: _Shared) -> None:
        if Role.CONTEXTS in self.by_role or not (
            {Role.RUN, Role.RANK, Role.SCORE} & ({*self.by_role} | {*self.constants})
        ):
            return
        run = self._name(shared.row, Role.RUN) or self._name(shared.row, Role.SYSTEM)
        if not run or not shared.text or not shared.topic:
            self.study.problem(
                shared.row.origin, "run", "a rank needs a topic, a passage and the name of a run"
            )
            return
        rank = self._number(shared.row, Role.RANK)
        score = self._number(shared.row, Role.SCORE)
        if rank is not None and not rank.is_integer():
            message = f"must be a whole number, not {rank:g}"
            self.study.problem(shared.row.origin, Role.RANK, message, self._header(Role.RANK))
            return
        run = self.study.system(shared.row.origin, run)
        passage = shared.text[2]
        whole_rank = None if rank is None else int(rank)
        self.study.ranked(shared.row.origin, run, shared.topic, passage, whole_rank, score)

    # -- grades

    def _grade(self, shared: _Shared, header: str, column: Column) -> None:
        study, row, origin = self.study, shared.row, shared.row.origin
        cell: Cell = row.cells.get(header) if header else self.constants.get(Role.GRADE)
        if is_missing(cell, self.missing):
            study.counts["missing grades: no row"] += 1
            return
        constants = column.constants
        slug = constants.get(Role.RUBRIC) or self._name(row, Role.RUBRIC)
        scale = study.rubrics.get(slug)
        if not slug:
            study.problem(
                origin, Role.RUBRIC, "is missing: map a column, or set one as rubric=NAME", header
            )
            return
        if scale is None:
            listed = ", ".join(sorted(study.rubrics)[:20])
            message = (
                f"there is no rubric {quoted_value(slug)}; describe it, or take one of {listed}"
            )
            study.problem(origin, Role.RUBRIC, message, header)
            return
        try:
            if column.cut:
                grade = scale.grade_of(cut_grade(number_of(cell, self.decimal), column.cut))
            else:
                grade = scale.grade_of(cell, self.decimal, column.scale)
        except CellError as error:
            study.problem(origin, Role.GRADE, str(error), header)
            return
        rater, kind = self._rater(row, constants)
        about = self._about(shared, constants)
        if not rater or about is None:
            return
        topic, question, text = about
        study.rating(
            origin,
            rater=rater,
            rater_kind=kind,
            rubric=slug,
            topic=topic,
            question=question,
            text=text,
            grade=grade,
            spans=self._spans(row),
            sha256=self._name(row, Role.SHA256),
            copied_from=(
                self._name(row, Role.COPIED_FROM_SYSTEM),
                self._name(row, Role.COPIED_FROM),
            ),
        )

    def _rater(self, row: _Row, constants: Mapping[str, str]) -> tuple[str, str]:
        name = constants.get(Role.RATER) or self._name(row, Role.RATER)
        kind = constants.get(Role.RATER_KIND) or self._name(row, Role.RATER_KIND) or _DEFAULT_KIND
        if not name:
            self.study.problem(
                row.origin, Role.RATER, "is missing: map a column, or set one as rater=NAME"
            )
            return "", kind
        if kind not in RATER_KINDS:
            message = f"{quoted_value(kind)} is none of {', '.join(RATER_KINDS)}"
            self.study.problem(row.origin, Role.RATER_KIND, message, self._header(Role.RATER_KIND))
            return "", kind
        return self.study.rater(row.origin, name), kind

    def _about(
        self, shared: _Shared, constants: Mapping[str, str]
    ) -> tuple[str, QuestionIndex, TextKey] | None:
        """Return topic, question and text of a grade; its column may name others than the row."""
        row, topic, question, text = shared.row, shared.topic, shared.question, shared.text
        if Role.TOPIC in constants or Role.REQUEST in constants:
            topic = self.study.topic(
                row.origin,
                constants.get(Role.TOPIC, ""),
                constants.get(Role.REQUEST, ""),
            )
            question = None
        if topic and (Role.QUESTION in constants or Role.QUESTION_NUMBER in constants):
            question = self._question(row, topic, constants)
        if Role.TEXT in constants or Role.SYSTEM in constants or Role.BODY in constants:
            system = (
                self.study.system(row.origin, constants[Role.SYSTEM])
                if Role.SYSTEM in constants
                else ""
            )
            kind = self._kind(row, system, constants)
            text = self.study.text(
                row.origin,
                kind,
                system,
                constants.get(Role.TEXT, ""),
                topic,
                constants.get(Role.BODY, ""),
            )
        if not topic or text is None:
            missing = "text" if topic else "topic"
            self.study.problem(row.origin, Role.GRADE, f"the row names no {missing} for it")
            return None
        return topic, question, text

    def _spans(self, row: _Row) -> list[dict[str, Any]]:
        if header := self._header(Role.SPANS):
            cell = row.cells.get(header)
            if is_empty(cell):
                return []
            try:
                value = json.loads(cell) if isinstance(cell, str) else cell
            except (ValueError, RecursionError):
                value = None
            spans = (
                [item for item in value if isinstance(item, dict)]
                if isinstance(value, list)
                else []
            )
            if not isinstance(value, list) or len(spans) < len(value):
                self.study.problem(row.origin, Role.SPANS, "must be a JSON list of spans", header)
            return spans
        quotes = self._name(row, Role.SPAN).split(" [...] ")
        start = self._number(row, Role.SPAN_START)
        end = self._number(row, Role.SPAN_END)
        if start is not None and end is not None and len(quotes) < 2:
            return [{"start": start, "end": end, "quote": quotes[0]}]
        return [{"quote": quote.strip()} for quote in quotes if quote.strip()]

    # -- values and notes

    def _value(self, shared: _Shared, header: str, column: Column) -> None:
        row = shared.row
        cell = row.cells.get(header)
        if is_missing(cell, self.missing):
            self.study.counts["missing values: no row"] += 1
            return
        try:
            value = number_of(cell, self.decimal)
        except CellError as error:
            self.study.problem(shared.row.origin, Role.VALUE, str(error), header)
            return
        measure = column.constants.get(Role.MEASURE) or self._name(shared.row, Role.MEASURE)
        text = shared.text
        if Role.SYSTEM in column.constants and shared.topic:
            system = self.study.system(shared.row.origin, column.constants[Role.SYSTEM])
            text = ("report", system, shared.topic)
        if text is None:
            self.study.problem(
                shared.row.origin, Role.VALUE, "the row names no report for it", header
            )
            return
        self.study.value(shared.row.origin, text, shared.topic, measure or header, value)

    def _comment(self, shared: _Shared, header: str, column: Column) -> None:
        row = shared.row
        cell = row.cells.get(header)
        if is_empty(cell):
            return
        try:
            note = text_of(cell).strip()
        except CellError as error:
            self.study.problem(row.origin, Role.COMMENT, str(error), header)
            return
        rater, _ = self._rater(row, column.constants) if note else ("", "")
        if not rater:
            return
        try:
            at = self._time(row)
        except CellError as error:
            self.study.problem(row.origin, Role.TIME, str(error), self._header(Role.TIME))
            return
        if not shared.topic or shared.text is None:
            self.study.counts["comments of no pair"] += 1
            return
        self.study.note(row.origin, rater, shared.topic, shared.question, shared.text, note, at)

    def _time(self, row: _Row) -> str:
        """Return the time of a row in ISO form with a zone, UTC where none is told; "" for none."""
        header = self._header(Role.TIME)
        cell = row.cells.get(header) if header else None
        if is_empty(cell):
            return ""
        if isinstance(cell, datetime):
            moment = cell
        elif isinstance(cell, date):
            moment = datetime.combine(cell, time())
        else:
            try:
                moment = datetime.fromisoformat(text_of(cell).strip())
            except ValueError as error:
                raise CellError(
                    f"must be a time as 2026-05-01T10:00:00, not {quoted_value(cell)}"
                ) from error
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _first(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((item[name] for name in names if item.get(name) not in (None, "")), None)
