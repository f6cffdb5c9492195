"""Preset of DeepEval: data sets of test cases, test runs, and the cache of runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.formats.tables import json_files
from annotation.formats.tables.cells import Cell, TableError
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    PresetError,
    PresetTables,
    Runs,
    answer_constants,
    column,
    is_message_list,
    listed,
    metric_columns,
    only_table,
    other_headers,
    required,
    rows_answered,
    rows_with,
)
from annotation.formats.tables.presets.nested import parsed, text_cell
from annotation.formats.tables.presets.scores import Score, add_scores, number_in
from annotation.formats.tables.source import Row, Table, is_empty

_RUN = "testRunData"  # in the file of the latest run
_CASES = ("testCases", "test_cases", "testResults", "test_results")
RECORDS = (*_CASES, *(f"{_RUN}.{name}" for name in _CASES))
"""Paths of the test cases in the JSON of a test run, of which the metrics are another array."""

_CONVERSATIONS = ("conversationalTestCases", "conversational_test_cases")

_TOPIC = "input"
_ANSWER = ("actual_output", "actualOutput")
_ROLES = {
    "topic.request": (_TOPIC,),
    "text.body": _ANSWER,
    "reference": ("expected_output", "expectedOutput"),
    "contexts": ("retrieval_context", "retrievalContext"),
    "gold": ("context",),
}
_METRICS = ("metricsData", "metrics_data", "metricsMetadata", "metrics_metadata")
_SYSTEM = "system of the test case"
_CACHED = "test_cases_lookup_map"


def deepeval(files: Sequence[TableFile], constants: Mapping[str, str]) -> PresetTables:
    """Read DeepEval's data sets of test cases, as JSON or CSV, and its test runs."""
    preset = PresetTables()
    runs = Runs(preset)
    for file in files:
        table = _table(file, preset.counts)
        required(table, "question", _TOPIC)
        roles: dict[str, Any] = {}
        for role, names in _ROLES.items():
            if header := column(table, *names):
                roles[header] = role
        for header, role in list(roles.items()):
            if role in ("contexts", "gold") and file.ending in (".csv", ".tsv", ".txt"):
                roles[header] = {"role": role, "split": _joining_sign(table, header)}
        label = "rows whose question is a conversation: left out"
        table = rows_with(preset, table, label, _has_question)
        if column(table, *_METRICS, "success"):
            _add_run(preset, file, table, runs, roles, constants)
        else:
            preset.add(table, roles, answer_constants(file, constants))
    return preset


def _has_question(cells: Mapping[str, Cell]) -> bool:
    return not (is_empty(cells.get(_TOPIC)) or is_message_list(cells.get(_TOPIC)))


def _joining_sign(table: Table, header: str) -> str:
    """Return the separator of contexts in DeepEval's CSV: its writer and its reader differ."""
    cells = [str(cells.get(header) or "") for _, cells in table.rows()]
    if any(cell.lstrip().startswith("[") for cell in cells):
        return ""
    return next((sign for sign in ("|", ";") if any(sign in cell for cell in cells)), "")


# -- test runs


def _add_run(
    preset: PresetTables,
    file: TableFile,
    table: Table,
    runs: Runs,
    roles: Mapping[str, Any],
    constants: Mapping[str, str],
) -> None:
    """Add the test cases of a run with their success, and the scores of its metrics."""
    answer = required(table, "answer", *_ANSWER)
    table = rows_answered(preset, table, answer)
    metrics = column(table, *_METRICS)
    rows: list[Row] = []
    scores: list[Score] = []
    for number, cells in table.rows():
        request, case = text_cell(cells.get(_TOPIC)), text_cell(cells.get("name"))
        identity = f"{file.name} {case}" if case else text_cell(cells.get(answer))
        system = runs.system(constants.get("system") or file.stem, request, identity)
        rows.append((number, {**cells, _SYSTEM: system}))
        scores += _scores(preset, number, request, system, cells.get(metrics))
    headers = [*other_headers(table, metrics, "name"), _SYSTEM]
    part = listed(table, headers, rows)
    of_success = metric_columns(preset, part, ["success"], prefix="deepeval")
    base = answer_constants(file, constants, "deepeval")
    preset.add(part, {**roles, _SYSTEM: "system", **of_success}, base)
    add_scores(preset, table, scores, (), constants)


def _scores(
    preset: PresetTables, row: int, request: str, system: str, cell: Cell
) -> Iterator[Score]:
    """Yield the scores of a test case: fractions, so values, with their reasons as notes."""
    metrics = parsed(cell)
    names: Counter[str] = Counter()
    for metric in metrics if isinstance(metrics, list) else ():
        if not isinstance(metric, dict):
            continue
        name = text_cell(metric.get("name")) or text_cell(metric.get("metric"))
        value = number_in(metric.get("score"))
        if not name or value is None:
            preset.counts["metrics without a score: no value"] += 1
            continue
        names[name] += 1
        measure = name if names[name] == 1 else f"{name} ({names[name]})"
        model = metric.get("evaluationModel") or metric.get("evaluation_model")
        reason = text_cell(metric.get("reason"))
        yield Score(
            row,
            request,
            system,
            text_cell(model) or "deepeval",
            "model",
            comment=f"{measure}: {reason}" if reason else "",
            measure=measure,
            value=value,
        )


# -- the cache of test runs


def is_cache(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get(_CACHED), dict)


def is_run(value: object) -> bool:
    """Return whether a value is a test run with a list of conversations, which may be empty."""
    run = _run_of(value)
    return any(isinstance(run.get(name), list) for name in _CONVERSATIONS)


def _run_of(value: object) -> Mapping[str, Any]:
    run = value.get(_RUN, value) if isinstance(value, dict) else {}
    return run if isinstance(run, dict) else {}


def _conversations(value: object) -> int:
    """Return the number of conversations beside the test cases, which are not read."""
    run = _run_of(value)
    lists = [run.get(name) for name in _CONVERSATIONS]
    return sum(len(cases) for cases in lists if isinstance(cases, list))


def _table(file: TableFile, counts: Counter[str]) -> Table:
    """Return the test cases of a file, and count its conversations. Raises PresetError."""
    if file.ending == ".json" and not json_files.is_json_lines(file.path):
        try:
            value = json_files.json_value(file.path)
        except TableError as error:
            raise PresetError(f"{file.name}{error.location}", str(error)) from error
        except OSError as error:
            raise PresetError(file.name, f"cannot be read: {error.strerror or error}") from error
        if is_cache(value):
            return _cached_cases(file, value[_CACHED])
        n = _conversations(value)
        counts["conversations: left out"] += n
        if n and not any(_run_of(value).get(name) for name in _CASES):
            message = f"has only conversations ({n}), which are not read"
            raise PresetError(file.name, message)
    return only_table(file, *RECORDS)


def _cached_cases(file: TableFile, cases: Mapping[str, Any]) -> Table:
    """Return the table of a cache: its keys are test cases as JSON, its values their metrics."""
    rows: list[Row] = []
    for number, (key, case) in enumerate(cases.items(), 1):
        try:
            cells = json.loads(key)
        except (ValueError, RecursionError):
            cells = None
        if not isinstance(cells, dict):
            raise PresetError(f"{file.name}: row {number}", "is no test case of DeepEval's cache")
        cached = case.get("cached_metrics_data") if isinstance(case, dict) else None
        metrics = [
            item.get("metric_data") or item.get("metric_metadata")
            for item in (cached if isinstance(cached, list) else ())
            if isinstance(item, dict)
        ]
        rows.append((number, {**cells, _METRICS[0]: metrics}))
    try:
        headers = json_files.headers_of(iter(rows))
    except TableError as error:
        raise PresetError(file.name, str(error)) from error
    return Table(
        file.name, "", headers, lambda: iter(rows), lambda number, header: f": row {number}"
    )
