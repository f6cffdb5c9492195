"""Presets of Langfuse and Phoenix: a table of traces and a table of scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    ANSWERS,
    QUESTIONS,
    PresetError,
    PresetTables,
    Runs,
    column,
    labels_rubric,
    listed,
    only_table,
    other_headers,
)
from annotation.formats.tables.presets.nested import (
    ASSISTANT,
    USER,
    is_absent,
    nested_value,
    parsed,
    text_cell,
    text_in,
)
from annotation.formats.tables.presets.scores import (
    Score,
    add_scores,
    number_in,
    rubric_slug,
    whole_rubric,
)
from annotation.formats.tables.source import Row, Table
from annotation.formats.tables.values import FALSE, TRUE

Constants = Mapping[str, str]
_TRACE_ROLES = {"question": "topic.request", "answer": "text.body", "name of the system": "system"}
_LANGFUSE_NAMES = {
    "trace": ("trace_id", "traceId"),
    "observation": ("observation_id", "observationId"),
    "words": ("string_value", "stringValue"),
    "type": ("data_type", "dataType"),
    "author": ("author_user_id", "authorUserId"),
}
_PHOENIX_SPAN = ("context.span_id", "span_id")
_PHOENIX_TRACE = ("context.trace_id", "trace_id")
_PHOENIX_RATERS = {
    "HUMAN": ("human", "human"),
    "LLM": ("llm", "model"),
    "CODE": ("code", "baseline"),
}
_DOCUMENTS = "attributes.retrieval.documents"


@dataclass(frozen=True)
class Trace:
    """Question of a trace, and its system. `answered` is False for a trace without an answer."""

    request: str
    system: str
    answered: bool


# -- Langfuse


def is_langfuse_scores(headers: Iterable[str]) -> bool:
    names = set(headers)
    return bool(names & {"trace_id", "traceId"}) and bool(
        names & {"value", "string_value", "stringValue"}
    )


def is_langfuse_traces(headers: Iterable[str]) -> bool:
    names = {name.partition(".")[0] for name in headers}
    return {"id", "input"} <= names and not is_langfuse_scores(headers)


def langfuse(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read Langfuse's exported traces and scores, joined by trace, as CSV or JSON lines."""
    preset = PresetTables()
    traces: list[tuple[TableFile, Table]] = []
    scores: list[Table] = []
    for file in files:
        table = only_table(file)
        if is_langfuse_scores(table.headers):
            scores.append(table)
        elif is_langfuse_traces(table.headers):
            traces.append((file, table))
        else:
            message = "has neither traces (id, input, output) nor scores (trace_id, name, value)"
            raise PresetError(table.name, message)
    if not traces:
        raise PresetError(files[0].name, "is without a file of traces: id, input, output")
    traces_by_id: dict[str, Trace] = {}
    runs = Runs(preset)
    for file, table in traces:
        traces_by_id |= _langfuse_traces(preset, file, table, runs, constants)
    for table in scores:
        _langfuse_scores(preset, table, traces_by_id, constants)
    return preset


def _langfuse_traces(
    preset: PresetTables, file: TableFile, table: Table, runs: Runs, constants: Constants
) -> dict[str, Trace]:
    traces_by_id: dict[str, Trace] = {}
    rows: list[Row] = []
    for number, cells in table.rows():
        request = text_in(nested_value(cells, "input"), QUESTIONS, USER)
        if not request:
            preset.counts["traces whose input is not one question: left out"] += 1
            continue
        answer = text_in(nested_value(cells, "output"), ANSWERS, ASSISTANT)
        if not answer:
            preset.counts["traces without an answer: no report"] += 1
        trace = text_cell(cells.get("id"))
        system = constants.get("system") or text_cell(cells.get("name")) or file.stem
        if answer:
            system = runs.system(system, request, trace or answer)
        traces_by_id[trace] = Trace(request, system, bool(answer))
        rows.append((number, {"question": request, "answer": answer, "name of the system": system}))
    unread = other_headers(table, "id", "input", "output", "name")
    _add_traces(preset, table, rows, unread, constants)
    return traces_by_id


def _add_traces(
    preset: PresetTables,
    table: Table,
    rows: Sequence[Row],
    unread: Sequence[str],
    constants: Constants,
    more: Mapping[str, Any] = {},
) -> None:
    fixed = {*constants} - {"system"}  # a row's system is the constant, with the number of its run
    trace_roles = {name: role for name, role in _TRACE_ROLES.items() if role not in fixed}
    roles = {**trace_roles, **more}
    part = listed(table, [*_TRACE_ROLES, *more, *unread], rows)
    preset.add(part, roles, {"text.kind": "report"} | dict(constants))


def _langfuse_scores(
    preset: PresetTables, table: Table, traces_by_id: Mapping[str, Trace], constants: Constants
) -> None:
    names = {part: column(table, *of) for part, of in _LANGFUSE_NAMES.items()}
    scored_rows: list[tuple[int, Trace, Mapping[str, Cell]]] = []
    for number, cells in table.rows():
        trace = traces_by_id.get(text_cell(cells.get(names["trace"])))
        if not is_absent(cells.get(names["observation"])):
            preset.counts["scores of observations: left out"] += 1
        elif trace is None:
            preset.counts["scores of no trace of these files: left out"] += 1
        elif not trace.answered:
            preset.counts["scores of traces without an answer: left out"] += 1
        else:
            scored_rows.append((number, trace, cells))
    scales = _LangfuseScales(preset, scored_rows, names, constants)
    scores = [
        score
        for number, trace, cells in scored_rows
        if (score := scales.score(number, trace, cells))
    ]
    used = [*names.values(), "name", "value", "source", "comment"]
    add_scores(preset, table, scores, other_headers(table, *used), constants)


class _LangfuseScales:
    """Kinds of the scores of each name: grades under a rubric, or values."""

    def __init__(
        self,
        preset: PresetTables,
        rows: Sequence[tuple[int, Trace, Mapping[str, Cell]]],
        names: Mapping[str, str],
        constants: Constants,
    ) -> None:
        self.preset = preset
        self.names = names
        self.constants = constants
        categories: dict[str, set[str]] = defaultdict(set)
        numbers: dict[str, list[float]] = defaultdict(list)
        for _, _, cells in rows:
            name, kind = text_cell(cells.get("name")), self._type(cells)
            if kind == "CATEGORICAL" and (category := text_cell(cells.get(names["words"]))):
                categories[name].add(category)
            elif kind == "NUMERIC" and self._source(cells) == "ANNOTATION":
                number = number_in(cells.get("value"))
                if number is not None:
                    numbers[name].append(number)
        self.categories = categories
        as_values = {constants.get("value", "")}
        self.whole = {
            name: rubric
            for name, values in numbers.items()
            if name not in as_values and (rubric := whole_rubric(name, values))
        }

    def _type(self, cells: Mapping[str, Cell]) -> str:
        kind = text_cell(cells.get(self.names["type"])).upper()
        if not kind:
            category = text_cell(cells.get(self.names["words"]))
            kind = "CATEGORICAL" if category and is_absent(cells.get("value")) else "NUMERIC"
        return kind

    def _source(self, cells: Mapping[str, Cell]) -> str:
        return text_cell(cells.get("source")).upper()

    def score(self, row: int, trace: Trace, cells: Mapping[str, Cell]) -> Score | None:
        source, kind = self._source(cells), self._type(cells)
        author = text_cell(cells.get(self.names["author"]))
        rater, rater_kind = {
            "ANNOTATION": (author or "annotation", "human"),
            "EVAL": ("eval", "model"),
        }.get(source, ("api", "model"))
        comment = text_cell(cells.get("comment"))
        name = text_cell(cells.get("name"))
        slug = rubric_slug("langfuse", name)
        category = text_cell(cells.get(self.names["words"]))
        grade: int | str | None = None
        value = None
        if kind == "TEXT":
            comment = "\n".join(
                part for part in (category or text_cell(cells.get("value")), comment) if part
            )
        elif kind == "BOOLEAN":
            grade = _truth(cells.get("value"), category)
            if grade is not None:
                self.preset.rubrics[slug] = whole_rubric(name, [0.0, 1.0]) or {}
        elif kind == "CATEGORICAL":
            grade = category or None
            if category:
                self.preset.rubrics[slug] = labels_rubric(name, self.categories[name])
        elif kind == "NUMERIC":
            value = number_in(cells.get("value"))
            if value is not None and name in self.whole and source == "ANNOTATION":
                grade, value = int(value), None
                slug = self._whole_slug(slug, name)
        else:
            self.preset.counts[f"scores of the type {kind}: left out"] += 1
            return None
        if grade is None and value is None and kind != "TEXT":
            self.preset.counts["scores without a value: no row"] += 1
        return Score(
            row, trace.request, trace.system, rater, rater_kind, comment, slug, grade, name, value
        )

    def _whole_slug(self, slug: str, name: str) -> str:
        """Return the rubric of whole numbers from people: the one that is set, else a new one."""
        if self.constants.get("rubric"):
            return self.constants["rubric"]
        self.preset.rubrics[slug] = self.whole[name]
        if self.whole[name]["levels"] != [0, 1]:
            levels = self.whole[name]["levels"]
            label = f"grades of {name}: the scale is taken to be {levels[0]} to {levels[-1]}"
            self.preset.counts[label] += 1
        return slug


def _truth(cell: Cell, label: str) -> int | None:
    """Return 1 for true and 0 for false, from a number or a word; None for neither."""
    for text in (text_cell(cell).casefold(), label.casefold()):
        if text in TRUE | {"1", "1.0"}:
            return 1
        if text in FALSE | {"0", "0.0"}:
            return 0
    return None


# -- Phoenix


def is_phoenix_spans(headers: Iterable[str]) -> bool:
    names = set(headers)
    return bool(names & {*_PHOENIX_SPAN}) and any(
        name.startswith(("attributes.input", "attributes.output", "attributes.retrieval"))
        for name in names
    )


def is_phoenix_annotations(headers: Iterable[str]) -> bool:
    names = set(headers)
    return bool(names & {*_PHOENIX_SPAN}) and bool(
        names & {"result.score", "result.label", "result.explanation", "score", "label"}
    )


def phoenix(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read Phoenix's spans and annotations; a trace's root tells question and answer."""
    preset = PresetTables()
    spans: list[Table] = []
    annotations: list[tuple[TableFile, Table]] = []
    for file in files:
        table = only_table(file)
        if is_phoenix_spans(table.headers):
            spans.append(table)
        elif is_phoenix_annotations(table.headers):
            annotations.append((file, table))
        else:
            message = (
                "has neither spans (context.span_id, attributes.input.value) nor annotations "
                "(span_id, annotation_name, result.score)"
            )
            raise PresetError(table.name, message)
    if not spans:
        message = "is without a file of spans: context.span_id, attributes.input.value"
        raise PresetError(files[0].name, message)
    documents = _documents(spans)
    roots: dict[str, Trace] = {}
    other_spans: set[str] = set()
    runs = Runs(preset)
    for table in spans:
        _phoenix_spans(preset, table, documents, runs, constants, roots, other_spans)
    for file, table in annotations:
        _phoenix_annotations(preset, file, table, constants, roots, other_spans)
    return preset


def _documents(tables: Sequence[Table]) -> dict[str, list[dict[str, str]]]:
    """Return the documents that the retrievers of each trace returned, each once."""
    label_set: dict[str, dict[tuple[str, str], dict[str, str]]] = defaultdict(dict)
    for table in tables:
        trace_id = column(table, *_PHOENIX_TRACE)
        span_id = column(table, *_PHOENIX_SPAN)
        for _, cells in table.rows():
            value = nested_value(cells, _DOCUMENTS)
            trace = text_cell(cells.get(trace_id)) or text_cell(cells.get(span_id))
            for item in value if isinstance(value, list) else []:
                document = _document(item)
                if document["text"]:
                    label_set[trace].setdefault((document["id"], document["text"]), document)
    return {trace: [*items.values()] for trace, items in label_set.items()}


def _document(item: object) -> dict[str, str]:
    if not isinstance(item, dict):
        return {"id": "", "text": item if isinstance(item, str) else ""}
    inner = item.get("document")
    of_document = inner if isinstance(inner, dict) else {}
    name = item.get("document.id", of_document.get("id", item.get("id")))
    content = item.get("document.content", of_document.get("content", item.get("content")))
    return {"id": text_cell(name), "text": text_cell(content)}


def _phoenix_spans(
    preset: PresetTables,
    table: Table,
    documents: Mapping[str, list[dict[str, str]]],
    runs: Runs,
    constants: Constants,
    roots: dict[str, Trace],
    other_spans: set[str],
) -> None:
    span_id, trace_id = column(table, *_PHOENIX_SPAN), column(table, *_PHOENIX_TRACE)
    rows: list[Row] = []
    for number, cells in table.rows():
        span = text_cell(cells.get(span_id))
        if not is_absent(cells.get("parent_id")):
            other_spans.add(span)
            preset.counts["spans that are no root of a trace: only their documents are read"] += 1
            continue
        request = text_in(nested_value(cells, "attributes.input.value"), QUESTIONS, USER)
        if not request:
            other_spans.add(span)
            preset.counts["traces whose input is not one question: left out"] += 1
            continue
        answer = text_in(nested_value(cells, "attributes.output.value"), ANSWERS, ASSISTANT)
        if not answer:
            preset.counts["traces without an answer: no report"] += 1
        system = constants.get("system") or "phoenix"
        if answer:
            system = runs.system(system, request, span or answer)
        roots[span] = Trace(request, system, bool(answer))
        row: dict[str, Any] = {
            "question": request,
            "answer": answer,
            "name of the system": system,
            "documents": documents.get(text_cell(cells.get(trace_id)) or span, []),
        }
        rows.append((number, row))
    used = (
        *_PHOENIX_SPAN,
        *_PHOENIX_TRACE,
        "parent_id",
        "attributes.input.value",
        "attributes.output.value",
        _DOCUMENTS,
    )
    unread = other_headers(table, *used)
    _add_traces(preset, table, rows, unread, constants, {"documents": "contexts"})


def _phoenix_annotations(
    preset: PresetTables,
    file: TableFile,
    table: Table,
    constants: Constants,
    roots: Mapping[str, Trace],
    other_spans: set[str],
) -> None:
    span_id = column(table, "span_id", "context.span_id")
    name_column = column(table, "annotation_name", "name")
    columns = {
        part: column(table, f"result.{part}", part) for part in ("score", "label", "explanation")
    }
    scored_rows: list[tuple[int, Trace, str, Mapping[str, Cell]]] = []
    for number, cells in table.rows():
        span = text_cell(cells.get(span_id))
        trace = roots.get(span)
        if trace is None:
            of = "spans that are no root" if span in other_spans else "no span of these files"
            preset.counts[f"annotations of {of}: left out"] += 1
        elif not trace.answered:
            preset.counts["annotations of traces without an answer: left out"] += 1
        else:
            name = text_cell(cells.get(name_column)) or file.stem
            scored_rows.append((number, trace, name, cells))
    scales = _PhoenixScales(preset, scored_rows, columns, constants)
    scores = [scales.score(*row) for row in scored_rows]
    used = [span_id, name_column, "annotator_kind", "result", *columns.values()]
    unread = other_headers(table, *used)
    add_scores(preset, table, scores, unread, constants)


class _PhoenixScales:
    """Kinds of the annotations of each name: whole scores, else labels, else values."""

    def __init__(
        self,
        preset: PresetTables,
        rows: Sequence[tuple[int, Trace, str, Mapping[str, Cell]]],
        columns: Mapping[str, str],
        constants: Constants,
    ) -> None:
        self.preset = preset
        self.columns = columns
        self.rubrics: dict[str, dict[str, Any]] = {}
        self.by_label: dict[str, dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
        numbers: dict[str, list[float]] = defaultdict(list)
        labels: dict[str, set[str]] = defaultdict(set)
        for _, _, name, cells in rows:
            number = number_in(cells.get(columns["score"]))
            label = text_cell(parsed(cells.get(columns["label"])))
            if number is not None:
                numbers[name].append(number)
            if label:
                labels[name].add(label)
                if number is not None:
                    self.by_label[name][label].add(number)
        as_values = {constants.get("value", "")}
        self.whole = {
            name: rubric
            for name, values in numbers.items()
            if name not in as_values and (rubric := whole_rubric(name, values))
        }
        self.labels = {
            name: label_set for name, label_set in labels.items() if name not in as_values
        }

    def score(self, row: int, trace: Trace, name: str, cells: Mapping[str, Cell]) -> Score:
        annotator = text_cell(cells.get("annotator_kind")).upper() or "LLM"
        rater, kind = _PHOENIX_RATERS.get(annotator, (annotator.lower(), "model"))
        number = number_in(cells.get(self.columns["score"]))
        label = text_cell(cells.get(self.columns["label"]))
        slug = rubric_slug("phoenix", name)
        grade: int | str | None = None
        value = None
        if name in self.whole:
            of_label = self.by_label[name].get(label, set())
            if number is None and len(of_label) == 1:
                number = min(of_label)
            grade = None if number is None else int(number)
            self.preset.rubrics[slug] = self.whole[name]
        elif name in self.labels:
            grade = label or None
            self.preset.rubrics[slug] = labels_rubric(name, self.labels[name])
        else:
            value = number
        if grade is None and value is None:
            self.preset.counts["annotations without a score: no grade"] += 1
        comment = text_cell(cells.get(self.columns["explanation"]))
        return Score(
            row, trace.request, trace.system, rater, kind, comment, slug, grade, name, value
        )
