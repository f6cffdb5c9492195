"""Lines of origins.jsonl that name the models of texts, sub-questions and runs.

{"system" | "run" | "text" | "topic", "role", "model"}: a system is all its reports, a topic all its
sub-questions. A line on one text or sub-question counts before these, role by role.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django.db.models import Model
from pydantic import Field

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.layout import Source
from annotation.formats.records import (
    Name,
    OriginRow,
    RepeatedText,
    StoredText,
    TextKey,
    WholeNumber,
)
from annotation.formats.storing import text_ids
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import json_line
from annotation.models import Dataset, SubQuestion, Text
from annotation.origins import Origin, identity, origin
from annotation.plurals import n_of
from evaluation.models import RetrievalRun

_LABELS: Mapping[type[Model], str] = {
    Text: "models of texts",
    SubQuestion: "models of sub-questions",
    RetrievalRun: "models of runs",
}


class OriginLineRow(OriginRow):
    """A line that names a model of one system, run, text or topic.

    `system` beside `text` is the text's own. Without `question_index` a topic stands for all its sub-questions.
    """

    system: StoredText | None = None
    run: Name | None = None
    text: Name | None = None
    text_kind: RepeatedText = ""
    topic: StoredText | None = None
    question_index: Annotated[WholeNumber, Field(ge=0)] | None = None

    @property
    def origin(self) -> Origin:
        return origin(self.role, self.model, self.revision, is_edited=self.edited)

    @property
    def text_key(self) -> TextKey:
        """Return the natural key of the text; a text of a system is a report by default."""
        default = Text.Kind.REPORT if self.system else Text.Kind.PASSAGE
        return self.text_kind or default, self.system or "", self.text or ""


@dataclass(frozen=True)
class _LineOrigin:
    """An origin with its line in the file."""

    line: int
    origin: Origin


# By the key of a row: its origins by role.
OriginsByRow = dict[int, dict[str, list[_LineOrigin]]]


class OriginReader:
    """Reader of the lines that name models. `add` takes one; `store` stores those of the file.

    A row that has models in a role keeps them, and the file must name no other.
    """

    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.summary = target.summary.file(source.name)
        self.systems: dict[str, list[_LineOrigin]] = defaultdict(list)
        self.texts: dict[TextKey, list[_LineOrigin]] = defaultdict(list)
        self.runs: dict[str, list[_LineOrigin]] = defaultdict(list)
        self.questions: dict[tuple[str, int | None], list[_LineOrigin]] = defaultdict(list)

    def add(self, line: int, row: OriginLineRow) -> None:
        """Take a line, or note its error."""
        subjects = {
            "run": row.run is not None,
            "text": row.text is not None,
            "topic": row.topic is not None,
            "system": row.system is not None and row.text is None,
        }
        subjects_of_line = [name for name, is_subject in subjects.items() if is_subject]
        if len(subjects_of_line) != 1:
            message = "a line is about one: a system, a run, a text or a topic"
            self._problem(line, subjects_of_line[1] if subjects_of_line else "system", message)
        elif (row.question_index is not None) and row.topic is None:
            self._problem(line, "question_index", "is of a topic, and this line has none")
        elif row.text_kind and (row.text is None or row.text_kind not in Text.Kind.values):
            kinds = ", ".join(Text.Kind.values)
            self._problem(line, "text_kind", f"is of a text, and one of {kinds}")
        else:
            entry = _LineOrigin(line, row.origin)
            if row.run is not None:
                self.runs[row.run].append(entry)
            elif row.text is not None:
                self.texts[row.text_key].append(entry)
            elif row.topic is not None:
                self.questions[row.topic, row.question_index].append(entry)
            elif row.system is not None:
                self.systems[row.system].append(entry)

    def store(self) -> None:
        """Store the origins of the lines so far, unless there is an error."""
        for model, of_rows in (
            (Text, self._of_texts()),
            (SubQuestion, self._of_questions()),
            (RetrievalRun, self._of_runs()),
        ):
            for keys in batches(of_rows, LOOK_UP):
                self._store(model, {key: of_rows[key] for key in keys})

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)

    def _of_texts(self) -> OriginsByRow:
        """Return the origins of texts: of the systems, then of single texts."""
        of_rows: OriginsByRow = {}
        reports = self.target.dataset.texts.filter(kind=Text.Kind.REPORT).order_by("pk")
        for system, entries in self.systems.items():
            keys = list(reports.filter(system=system).values_list("pk", flat=True))
            if not keys:
                message = f"there is no report of the system {quoted_value(system)}"
                self._problem(entries[0].line, "system", message)
            for key in keys:
                of_rows[key] = _by_role(entries)
        keys_of_texts = text_ids(self.target.dataset, self.texts)
        for text, entries in self.texts.items():
            if text not in keys_of_texts:
                kind, system, name = text
                of_system = f" of {quoted_value(system)}" if system else ""
                message = f"the {kind} {quoted_value(name)}{of_system} is not in the dataset"
                self._problem(entries[0].line, "text", message)
            else:
                key = keys_of_texts[text]
                of_rows[key] = of_rows.get(key, {}) | _by_role(entries)
        return of_rows

    def _of_questions(self) -> OriginsByRow:
        of_rows: OriginsByRow = {}
        in_order = sorted(self.questions.items(), key=lambda entry: entry[0][1] is not None)
        for (name, index), entries in in_order:
            line = entries[0].line
            topic = self.target.topic(self.source, line, "topic", name)
            if topic is None:
                continue
            questions = {question.position: question.pk for question in topic.questions}
            if index is None:
                keys = list(questions.values())
            elif index in questions:
                keys = [questions[index]]
            else:
                message = f"{name} has {n_of(len(questions), 'question')}, counted from 0"
                self._problem(line, "question_index", message)
                continue
            if not keys:
                self._problem(line, "topic", f"{name} has no sub-questions")
            for key in keys:
                of_rows[key] = of_rows.get(key, {}) | _by_role(entries)
        return of_rows

    def _of_runs(self) -> OriginsByRow:
        of_rows: OriginsByRow = {}
        runs = RetrievalRun.objects.filter(dataset=self.target.dataset)
        run_ids = dict(runs.values_list("name", "pk"))
        for name, entries in self.runs.items():
            if name in run_ids:
                of_rows[run_ids[name]] = _by_role(entries)
            else:
                message = (
                    f"there is no run {quoted_value(name)}: its rankings are in runs/{name}.run"
                )
                self._problem(entries[0].line, "run", message)
        return of_rows

    def _store(self, model: type[Model], of_rows: OriginsByRow) -> None:
        """Store what is new for rows of a table; rows with the same change by one statement."""
        rows = model._base_manager.filter(pk__in=of_rows)
        earlier = _earlier_origins(model, of_rows, self.target.last_version)
        changes: dict[tuple[str, str], list[int]] = defaultdict(list)
        for key, origins in rows.order_by("pk").values_list("pk", "origins"):
            added = self._new_origins(of_rows[key], origins, earlier.get(key, ()))
            if added:
                changes[json.dumps([*origins, *added]), json.dumps(added)].append(key)
            else:
                self.summary.unchanged += 1
        if self.target.problems:
            return
        for (origins_json, added_json), keys in changes.items():
            model._base_manager.filter(pk__in=keys).update(origins=json.loads(origins_json))
            self.target.named_models.setdefault((model, added_json), set()).update(keys)
            self.summary.created += len(keys)
            self.target.summary.created[_LABELS[model]] += len(keys)

    def _new_origins(
        self,
        by_role: Mapping[str, Sequence[_LineOrigin]],
        origins: Sequence[Origin],
        earlier: Iterable[Sequence[Origin]],
    ) -> list[Origin]:
        """Return the origins that a row lacks; notes an error for a role that has others.

        Those of an earlier wording are not of the current one: the file is older than the edit.
        """
        added: list[Origin] = []
        for role, entries in by_role.items():
            identities = {identity(entry.origin) for entry in entries}
            stored = _identities(origins, role)
            if identities <= stored or any(
                identities <= _identities(replaced, role) for replaced in earlier
            ):
                continue
            if stored:
                models = ", ".join(sorted(model for _, model, _ in stored))
                differing = next(entry for entry in entries if identity(entry.origin) not in stored)
                message = f"another model is stored as {role} already: {quoted_value(models)}"
                self._problem(differing.line, "model", message)
                continue
            added += [entry.origin for entry in entries]
        return added


def _by_role(entries: Iterable[_LineOrigin]) -> dict[str, list[_LineOrigin]]:
    """Group the origins of lines by role, each model once."""
    by_role: dict[str, dict[tuple[str, str, str], _LineOrigin]] = {}
    for entry in entries:
        of_role = by_role.setdefault(entry.origin["role"], {})
        of_role.setdefault(identity(entry.origin), entry)
    return {role: list(of_role.values()) for role, of_role in by_role.items()}


def _identities(origins: Iterable[Origin], role: str) -> set[tuple[str, str, str]]:
    return {identity(entry) for entry in origins if entry["role"] == role}


def _earlier_origins(
    model: type[Model], keys: Iterable[int], last_version: int
) -> dict[int, list[list[Origin]]]:
    """Return the origins of earlier wordings of texts or questions, by their keys.

    None for rows that this import itself has edited: its lines are about the new words.
    """
    earlier: dict[int, list[list[Origin]]] = defaultdict(list)
    if model is not RetrievalRun:
        rows = model._base_manager.filter(pk__in=list(keys)).exclude(
            pk__in=model._base_manager.filter(versions__pk__gt=last_version).values("pk")
        )
        rows = rows.filter(versions__had__has_key="origins")
        for key, origins in rows.values_list("pk", "versions__had__origins"):
            if origins:
                earlier[key].append(origins)
    return earlier


def lines(dataset: Dataset, runs: Iterable[RetrievalRun], left_out: Counter[str]) -> Iterator[str]:
    """Yield the known origins of a dataset: of systems, single texts, topics and these runs."""
    yield from _lines_of_texts(dataset, left_out)
    yield from _lines_of_questions(dataset)
    for run in sorted(runs, key=lambda run: run.name):
        yield from _lines({"run": run.name}, run.origins)


def _lines(subject: Mapping[str, Any], origins: Iterable[Origin]) -> Iterator[str]:
    for entry in origins:
        yield json_line({**subject, **_in_order(entry)})


def _in_order(entry: Origin) -> Origin:
    """Return the keys of an origin in one order: a database may have another."""
    return {key: entry[key] for key in ("role", "model", "revision", "edited") if key in entry}


def _lines_of_texts(dataset: Dataset, left_out: Counter[str]) -> Iterator[str]:
    texts = dataset.texts.exclude(origins=[])
    systems = texts.filter(kind=Text.Kind.REPORT).order_by().values_list("system", flat=True)
    whole: set[str] = set()
    for system in sorted(set(systems)):
        reports = dataset.texts.filter(kind=Text.Kind.REPORT, system=system)
        if shared := _shared_origins(reports.values_list("origins", flat=True)):
            whole.add(system)
            yield from _lines({"system": system}, shared)
    rows = texts.values_list("kind", "system", "name", "origins", "sha256", "topic")
    for kind, system, name, origins, sha256, topic in sorted(rows, key=lambda row: row[:3]):
        if kind == Text.Kind.REPORT and system in whole:
            continue
        if not sha256 or (kind == Text.Kind.REPORT and topic is None):
            left_out["models of texts without words, or of reports of no topic"] += 1
            continue
        yield from _lines({"text_kind": kind, "system": system, "text": name}, origins)


def _lines_of_questions(dataset: Dataset) -> Iterator[str]:
    questions = SubQuestion.objects.filter(topic__dataset=dataset)
    topics = questions.exclude(origins=[]).order_by().values_list("topic", flat=True).distinct()
    by_topic: dict[str, list[tuple[int, list[Origin]]]] = defaultdict(list)
    rows = questions.filter(topic__in=list(topics)).order_by("position")
    for topic, position, origins in rows.values_list("topic__name", "position", "origins"):
        by_topic[topic].append((position, origins))
    for topic, of_topic in sorted(by_topic.items()):
        if shared := _shared_origins(origins for _, origins in of_topic):
            yield from _lines({"topic": topic}, shared)
            continue
        for position, origins in of_topic:
            yield from _lines({"topic": topic, "question_index": position}, origins)


def _shared_origins(of_rows: Iterable[list[Origin]]) -> list[Origin]:
    """Return the origins that all rows have alike; [] if they differ."""
    unique = {json.dumps(list(map(_in_order, origins))): origins for origins in of_rows}
    return next(iter(unique.values())) if len(unique) == 1 else []
