"""Study collected from tables: each topic, question, text, rating, value and note once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.summary import quoted_value
from annotation.formats.tables.duplicates import (
    CHOOSE,
    REFUSE,
    Duplicates,
    TextKey,
)
from annotation.formats.tables.names import (
    NameClashError,
    StoredNames,
    is_personal,
    passage_id,
    pseudonym,
    rater_name,
    system_name,
    text_id,
    topic_id,
)
from annotation.formats.tables.problems import Problems, TableReference
from annotation.formats.tables.rankings import Origin, Ranked, RankingError, ordered
from annotation.formats.tables.spool import Spool
from annotation.formats.tables.stored_contents import StoredContents, StoredTopic
from annotation.formats.tables.values import Scale, digest, normal
from annotation.plurals import n_of

QuestionIndex = int | None  # from 0; None for the topic as a whole
_SPOOLS = {"passage": "passages", "reference": "references", "report": "reports"}
NO_TOPIC = (
    "passages of no topic, as their ids do not begin with one: campaigns and judges leave them out "
    "(see the setting “Ids of passages”, passages_of)"
)


@dataclass(slots=True)
class _Topic:
    name: str
    request: str
    origin: Origin
    group: str = ""
    questions: dict[int, str] = field(default_factory=dict)
    """Text by index, from 0."""
    by_text: dict[str, int] = field(default_factory=dict)
    origins: dict[int, Origin] = field(default_factory=dict)
    stored: StoredTopic | None = None
    asks_whole: bool = False
    """Whether a rating is of the topic as a whole."""


PSEUDONYMS = "people called by an address or a platform id: stored under a pseudonym"
WHOLE_REASON = "the request as a whole"


class Study:
    """Contents of a study, collected row by row.

    Raises DatasetImportError by `problems` at the limit of errors.
    """

    def __init__(
        self,
        tables: Sequence[TableReference],
        stored: StoredContents,
        rubrics: Mapping[str, Scale],
        duplicates: str = REFUSE,
    ) -> None:
        self.tables = tables
        self.stored = stored
        self.rubrics = {**stored.rubrics, **rubrics}
        self.problems = Problems()
        self.counts: Counter[str] = Counter()
        """Rows and cells without an effect, by label."""
        self._duplicates = Duplicates(duplicates, self.counts)
        self.topics: dict[str, _Topic] = {}
        self.spools: dict[tuple[str, int, str], Spool] = {}
        """By kind of rows, index of the table, and name of the run."""
        self.used_rubrics: set[str] = set()
        self._raw_ids: dict[str, str] = {}
        """Id of a topic as the file has it, by the name that it became."""
        self._by_request: dict[str, list[str]] = {}
        for name, topic in stored.topics.items():
            self._by_request.setdefault(normal(topic.request), []).append(name)
        self._texts: dict[TextKey, tuple[str, Origin, int]] = {}
        """Digest of the words, and the row and position in its spool, of the words that count."""
        self._rated_texts: dict[TextKey, Origin] = {}
        """Texts that a rating, a value or a note names."""
        self._systems = StoredNames(system_name)
        self._raters = StoredNames(rater_name)
        self._ratings: dict[tuple[Any, ...], tuple[int, Origin, int]] = {}
        """Grade, origin and position in its spool, by rater, rubric, topic, question and text."""
        self._values: dict[tuple[str, ...], tuple[float, Origin, int]] = {}
        self._notes: dict[tuple[Any, ...], tuple[Origin, int]] = {}
        self._ranked: dict[tuple[str, str], list[Ranked]] = {}

    # -- names

    def problem(self, origin: Origin, role: str, message: str, header: str = "") -> None:
        """Record an error at a cell, with the header's name where there is one."""
        table, row = origin
        label = f"{header} ({role})" if header and header != role else role
        self.problems.add(self.tables[table].location(row, header), label, message)

    def location(self, origin: Origin) -> str:
        return self.tables[origin[0]].location(origin[1])

    def system(self, origin: Origin, name: str) -> str:
        """Return the name of a system as it is stored."""
        return self._name(origin, "system", name, self._systems)

    def rater(self, origin: Origin, name: str) -> str:
        """Return the name of a rater as it is stored; of an address or platform id a pseudonym."""
        if is_personal(name):
            name = pseudonym(name, self.stored.pseudonym_key)
            if name not in self._raters.stored:
                self.counts[PSEUDONYMS] += 1
        return self._name(origin, "rater", name, self._raters)

    def _name(self, origin: Origin, role: str, name: str, names: StoredNames) -> str:
        try:
            return names.add(name)
        except NameClashError as error:
            self.problem(origin, role, str(error))
            return ""

    # -- topics and questions

    def topic(self, origin: Origin, name: str = "", request: str = "", group: str = "") -> str:
        """Return the name of a topic, added or completed. "" with an error noted if there is none."""
        request = normal(request)
        if name:
            cleaned = topic_id(name)
            if self._raw_ids.setdefault(cleaned, name) != name:
                other_name = quoted_value(self._raw_ids[cleaned])
                message = f"{quoted_value(name)} and {other_name} are both {cleaned}"
                self.problem(origin, "topic.id", message)
                return ""
            name = cleaned
        elif request:
            same = self._by_request.get(request, [])
            if len(same) > 1:
                message = f"several topics ask this ({', '.join(same[:5])}): a column of topic ids is needed"
                self.problem(origin, "topic.request", message)
                return ""
            name = same[0] if same else f"t-{digest(request)}"
        else:
            self.problem(origin, "topic", "is missing: neither an id nor a request is told")
            return ""
        topic = self.topics.get(name)
        if topic is None:
            topic = self._new_topic(origin, name, request, group)
        if request and not topic.request:
            topic.request = request
            self._by_request.setdefault(request, []).append(name)
        elif request and request != topic.request:
            message = (
                f"topic {name} has the request {quoted_value(topic.request)} at {self.location(topic.origin)}, "
                f"and here {quoted_value(request)}"
            )
            self.problem(origin, "topic.request", message)
        topic.group = topic.group or group
        return name

    def _new_topic(self, origin: Origin, name: str, request: str, group: str) -> _Topic:
        topic = _Topic(name, request, origin, group)
        stored = self.stored.topics.get(name)
        if stored:
            topic.stored = stored
            topic.request = topic.request or normal(stored.request)
            for index, text in enumerate(stored.questions):
                topic.questions[index] = text
                topic.by_text.setdefault(normal(text), index)
            if request and normal(stored.request) not in ("", request):
                message = (
                    f"topic {name} is there already with the request {quoted_value(stored.request)}"
                )
                self.problem(origin, "topic.request", message)
        if request and name not in self._by_request.setdefault(request, []):
            self._by_request[request].append(name)
        self.topics[name] = topic
        return topic

    def question(
        self, origin: Origin, topic_name: str, text: str = "", index: int | None = None
    ) -> QuestionIndex:
        """Return the index of the question that a row names, added if its text is new."""
        text = text.strip()
        topic = self.topics[topic_name]
        if not text:
            return index
        existing = topic.by_text.get(normal(text))
        if existing is None and topic.stored and topic.stored.questions:
            message = (
                f"topic {topic_name} is there already with {n_of(len(topic.stored.questions), 'question')}, "
                f"and {quoted_value(text)} is none of them"
            )
            self.problem(origin, "question.text", message)
            return 0
        if existing is None:
            new_index = len(topic.questions) if index is None else index
            if topic.questions.get(new_index):
                message = (
                    f"question {new_index + 1} of {topic_name} is {quoted_value(topic.questions[new_index])} "
                    f"at {self.location(topic.origins[new_index])}, and here {quoted_value(text)}"
                )
                self.problem(origin, "question.text", message)
                return new_index
            topic.questions[new_index] = text
            topic.by_text[normal(text)] = existing = new_index
            topic.origins[new_index] = origin
        elif index is not None and index != existing:
            quoted = quoted_value(text)
            message = f"{quoted} is question {existing + 1} of {topic_name}, and here {index + 1}"
            self.problem(origin, "question.number", message)
        return existing

    # -- texts

    def text(
        self,
        origin: Origin,
        kind: str,
        system: str,
        name: str,
        topic: str,
        body: str,
        statements: Sequence[Mapping[str, Any]] = (),
    ) -> TextKey | None:
        """Return the key of a text, stored once if it has words; None with an error noted."""
        name = self._text_name(origin, kind, name, topic, body)
        if not name:
            return None
        if kind == "report" and not system:
            message = "a report needs a system: map a column, or set one as system=NAME"
            self.problem(origin, "system", message)
            return None
        key = (kind, system if kind == "report" else "", name)
        if not body.strip():
            return key
        body_hash = digest(body)
        previous = self._texts.get(key)
        self._duplicates.add_body(key, body_hash, previous[0] if previous else body_hash, origin)
        if previous and previous[0] != body_hash:
            message = f"{name} has other words at {self.location(previous[1])}"
            if not self._decides(origin, "text.body", message, "texts"):
                return key
            if not self._replaces(_SPOOLS[kind], *previous[1:]):
                return key
        elif previous:
            return key
        self._texts[key] = body_hash, origin, self._store_text(origin, key, topic, body, statements)
        return key

    def _decides(self, origin: Origin, role: str, message: str, label: str) -> bool:
        """Return whether the setting decides about two rows; else an error is noted."""
        if self._duplicates.refuses:
            self.problem(origin, role, f"{message}; {CHOOSE}")
            return False
        setting = self._duplicates.setting
        self.counts[f"{label} that another row contradicts: the {setting} counts"] += 1
        return True

    def _replaces(self, kind: str, origin: Origin, position: int) -> bool:
        """Return whether a new row replaces this earlier one, which then is left out."""
        if self._duplicates.last_counts:
            self._duplicates.replace(kind, origin[0], position)
        return self._duplicates.last_counts

    def _text_name(self, origin: Origin, kind: str, name: str, topic: str, body: str) -> str:
        name = text_id(name)
        if kind == "reference":
            return f"{topic}:report" if topic else ""
        if name:
            return name
        if kind == "report":
            if not topic:
                self.problem(origin, "topic", "a report needs a topic")
            return topic
        if not body.strip():
            self.problem(origin, "text.id", "is missing, and the words of the text too")
            return ""
        return passage_id(topic, body)

    def _store_text(
        self,
        origin: Origin,
        key: TextKey,
        topic: str,
        body: str,
        statements: Sequence[Mapping[str, Any]],
    ) -> int:
        """Add the text to its spool; return its position there."""
        kind, system, name = key
        if kind == "passage":
            if topic and not name.startswith(f"{topic}:"):
                self.counts[NO_TOPIC] += 1
            return self._add("passages", origin, {"id": name, "contents": body})
        if kind == "reference":
            return self._add("references", origin, {"id": topic, "contents": body})
        report = {
            "topic": topic,
            "system": system,
            "body": body,
            "statements": list(statements),
        }
        if name != topic:
            report["name"] = name
        return self._add("reports", origin, report)

    # -- ratings, values, notes

    def rating(
        self,
        origin: Origin,
        *,
        rater: str,
        rater_kind: str,
        rubric: str,
        topic: str,
        question: QuestionIndex,
        text: TextKey,
        grade: int,
        spans: Sequence[Mapping[str, Any]] = (),
        sha256: str = "",
        copied_from: tuple[str, str] = ("", ""),
    ) -> None:
        """Add a rating once.

        `copied_from` is system and name of the text of equal words that was read, where it is another.

        Another grade of the same pair by the same rater is an error, unless `duplicates` decides.
        """
        self.used_rubrics.add(rubric)
        if self._duplicates.leaves_out(text, origin):
            return
        key = (rater, rubric, topic, question, text)
        previous = self._ratings.get(key)
        if previous is not None:
            if previous[0] == grade:
                self.counts["ratings that repeat an earlier row"] += 1
            else:
                message = (
                    f"{rater} graded this pair {previous[0]} at {self.location(previous[1])}, "
                    f"and here {grade}"
                )
                if not self._decides(origin, "grade", message, "ratings"):
                    return
            if not self._replaces("ratings", *previous[1:]):
                return
        kind, system, name = text
        read_system, read_name = copied_from
        position = self._add(
            "ratings",
            origin,
            {
                "rater": rater,
                "rater_kind": rater_kind,
                "rubric": rubric,
                "topic": topic,
                "question": question,
                "text_kind": kind,
                "system": system,
                "text": name,
                "text_sha256": sha256,
                "grade": grade,
                "spans": list(spans),
                "copied_from_system": read_system,
                "copied_from": read_name,
            },
        )
        self._ratings[key] = grade, origin, position
        self._name_pair(origin, topic, question, text)
        if read_name:
            self._name_pair(origin, topic, question, (kind, read_system, read_name))

    def value(self, origin: Origin, text: TextKey, topic: str, measure: str, value: float) -> None:
        """Add a value of a report, once."""
        kind, system, name = text
        if kind != "report":
            self.problem(origin, "value", "is of a report, and this row has none")
            return
        if self._duplicates.leaves_out(text, origin):
            return
        key = (system, name, measure)
        previous = self._values.get(key)
        self._rated_texts.setdefault(text, origin)
        if previous is not None:
            message = (
                f"{measure} of {name} is {previous[0]} at {self.location(previous[1])}, "
                f"and here {value}"
            )
            if previous[0] != value and not self._decides(origin, "value", message, "values"):
                return
            if not self._replaces("values", *previous[1:]):
                return
        row = {"topic": topic, "system": system, "name": name, "measure": measure, "value": value}
        self._values[key] = value, origin, self._add("values", origin, row)

    def note(
        self,
        origin: Origin,
        by: str,
        topic: str,
        question: QuestionIndex,
        text: TextKey,
        note: str,
        at: str,
    ) -> None:
        """Add a note on a pair; the same words by the same rater on the pair are no second one."""
        key = (by, topic, question, text, note)
        previous = self._notes.get(key)
        if self._duplicates.leaves_out(text, origin) or (
            previous and not self._replaces("notes", *previous)
        ):
            return
        self._name_pair(origin, topic, question, text)
        kind, system, name = text
        values = {
            "topic": topic,
            "question": question,
            "text_kind": kind,
            "system": system,
            "text": name,
            "by": by,
            "note": note,
        }
        position = self._add("notes", origin, values | ({"at": at} if at else {}))
        self._notes[key] = origin, position

    def _name_pair(
        self, origin: Origin, topic: str, question: QuestionIndex, text: TextKey
    ) -> None:
        """Record that a row needs the text, and perhaps the topic as a question of its own."""
        self._rated_texts.setdefault(text, origin)
        self.topics[topic].asks_whole |= question is None

    # -- runs

    def ranked(
        self,
        origin: Origin,
        run: str,
        topic: str,
        passage: str,
        rank: int | None = None,
        score: float | None = None,
    ) -> None:
        """Add a passage to the ranking of a topic, at its rank, by its score, or as the last."""
        self._ranked.setdefault((run, topic), []).append((rank, score, passage, origin))

    def ranking(self, origin: Origin, run: str, topic: str, passages: Sequence[str]) -> None:
        """Add the whole ranking of a topic.

        A topic that has a ranking already must get the same one.
        """
        present = self._ranked.get((run, topic))
        if present:
            if [passage for _, _, passage, _ in present] != list(dict.fromkeys(passages)):
                message = f"{run} has another list for {topic} at {self.location(present[0][3])}"
                if not self._decides(origin, "contexts", message, "lists of contexts"):
                    return
            if not self._duplicates.last_counts:
                return
            del self._ranked[run, topic]
        for passage in dict.fromkeys(passages):
            self.ranked(origin, run, topic, passage)

    # -- the end

    def finish(self) -> None:
        """Resolve questions and rankings. Raises DatasetImportError if there are errors."""
        self.problems.stop()
        for topic in self.topics.values():
            self._finish_topic(topic)
        self.problems.stop()
        self._duplicates.finish()
        for (run, topic_name), rows in self._ranked.items():
            self._finish_ranking(run, topic_name, rows)
        for key, spool in self.spools.items():
            self.spools[key] = self._effective_spool(key, spool)
        self.problems.stop()

    def _effective_spool(self, key: tuple[str, int, str], spool: Spool) -> Spool:
        """Return the rows of a spool that count, those about pairs with their questions."""
        kind, table, _ = key
        is_about_pairs = kind in ("ratings", "notes")
        if self._duplicates.refuses and not is_about_pairs:
            return spool
        effective = Spool()
        for row, values in self._duplicates.effective_rows(kind, table, spool):
            if not is_about_pairs or self._resolve((table, row), values):
                effective.add(row, values)
        return effective

    def _finish_topic(self, topic: _Topic) -> None:
        self._add(
            "topics",
            topic.origin,
            {"id": topic.name, "request": topic.request, "group": topic.group},
        )
        stored = topic.stored.questions if topic.stored else ()
        new_places = [index for index in topic.questions if index >= len(stored)]
        if new_places and sorted(topic.questions) != list(range(len(topic.questions))):
            missing = next(i for i in range(max(topic.questions)) if i not in topic.questions)
            self.problem(
                topic.origin,
                "question.number",
                f"question {missing + 1} of {topic.name} has no words",
            )
            return
        n_asked = len(topic.questions)
        if topic.asks_whole and normal(topic.request) not in topic.by_text:
            if not topic.request:
                message = (
                    f"topic {topic.name} has neither a question nor a request to grade a text for"
                )
                self.problem(topic.origin, "question.text", message)
                return
            topic.questions[n_asked] = topic.request
            topic.by_text[normal(topic.request)] = n_asked
        elif not topic.questions and topic.request:
            topic.questions[0] = topic.request
            topic.by_text[normal(topic.request)] = 0
        if len(topic.questions) > len(stored) and stored:
            message = (
                f"topic {topic.name} has questions in the dataset; these rows grade texts for the topic as a "
                "whole, which is none of them: name a question"
            )
            self.problem(topic.origin, "question.text", message)
            return
        if topic.questions and not stored:
            row: dict[str, Any] = {
                "id": topic.name,
                "subquestions": [topic.questions[index] for index in sorted(topic.questions)],
            }
            if 0 < n_asked < len(topic.questions):
                row["filtered"] = {str(n_asked): {"because": WHOLE_REASON}}
            self._add("questions", topic.origin, row)

    def _finish_ranking(self, run: str, topic: str, rows: Sequence[Ranked]) -> None:
        report = ("report", run, topic)
        rows = [row for row in rows if not self._duplicates.is_uncounted(report, row[3])]
        try:
            ranking = ordered(run, topic, rows, self.location)
        except RankingError as error:
            self.problem(error.origin, error.role, str(error))
            return
        for rank, (_, score, passage, origin) in enumerate(ranking, 1):
            value = 1 / rank if score is None else score
            line = f"{topic} Q0 {passage} {rank} {value!r} {run}"
            self._add("runs", origin, {"line": line}, run)

    def _resolve(self, origin: Origin, values: dict[str, Any]) -> bool:
        """Set the index of the question of a rating or note; False with an error noted."""
        index = values.pop("question")
        topic = self.topics[values["topic"]]
        if index is None:
            index = topic.by_text[normal(topic.request)]
        if index not in topic.questions:
            message = f"there is no question {index + 1}: {topic.name} has {len(topic.questions)}"
            self.problem(origin, "question.number", message)
            return False
        values["question_index"] = index
        return True

    def missing_texts(self) -> dict[TextKey, Origin]:
        """Return the rated texts whose body no row has.

        Without any passage in the tables, passages may be names alone, as in qrels.
        """
        has_passages = any(kind == "passage" for kind, _, _ in self._texts)
        return {
            key: origin
            for key, origin in self._rated_texts.items()
            if key not in self._texts and (has_passages or key[0] != "passage")
        }

    def _add(self, kind: str, origin: Origin, values: Mapping[str, Any], run: str = "") -> int:
        table, row = origin
        key = (kind, table, run)
        if key not in self.spools:
            self.spools[key] = Spool()
        return self.spools[key].add(row, values)
