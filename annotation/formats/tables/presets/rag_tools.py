"""Presets of tools whose row is a question with its answer, contexts and metrics."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.lists import ListError, items_of
from annotation.formats.tables.presets.base import (
    PresetTables,
    Runs,
    answer_constants,
    column,
    is_message_list,
    metric_columns,
    nested_metric_columns,
    numbered_runs,
    only_table,
    required,
    rows_with,
    with_columns,
)
from annotation.formats.tables.presets.nested import text_cell
from annotation.formats.tables.source import Table, is_empty
from annotation.formats.tables.values import digest

Constants = Mapping[str, str]
_RAGAS_FRACTIONS = (
    *(
        "faithfulness",
        "answer_relevancy",
        "answer_relevance",
        "response_relevancy",
        "context_precision",
    ),
    *("context_recall", "context_entity_recall", "context_utilization", "context_relevancy"),
    *("context_relevance", "nv_context_relevance", "nv_accuracy", "nv_response_groundedness"),
    *("llm_context_precision_with_reference", "llm_context_precision_without_reference"),
    *("non_llm_context_precision_with_reference", "non_llm_context_recall", "noise_sensitivity"),
    *("noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "factual_correctness"),
    *(
        "answer_correctness",
        "answer_similarity",
        "semantic_similarity",
        "non_llm_string_similarity",
    ),
    *("bleu_score", "rouge_score", "string_similarity", "id_based_context_precision"),
    *("id_based_context_recall", "summary_score", "topic_adherence", "tool_call_accuracy"),
)
_RAGAS_UNREAD = (
    *("multi_responses", "rubric", "rubrics", "retrieved_context_ids", "reference_context_ids"),
    *(
        "synthesizer_name",
        "persona_name",
        "query_style",
        "query_length",
        "evolution_type",
        "metadata",
    ),
    *("episode_done", "id"),
)
_TRULENS_UNREAD = (
    *(
        "app_name",
        "app_version",
        "app_id",
        "record_id",
        "input",
        "output",
        "tags",
        "ts",
        "latency",
        "type",
    ),
    *(
        "total_tokens",
        "total_cost",
        "cost_currency",
        "perf",
        "cost",
        "record",
        "main_input",
        "main_output",
    ),
    *("events", "trace_id", "root_span_id", "num_events", "run_name", "input_id"),
)
_RAGCHECKER_METRICS = "metrics."
_RETRIEVED = "retrieved_context"


def ragas(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read Ragas' to_pandas() as CSV or JSON lines; also with the names from before 0.2."""
    preset = PresetTables()
    for file in files:
        table = only_table(file)
        question = required(table, "question", "user_input", "question")
        roles: dict[str, Any] = {question: "topic.request"}
        for role, names in {
            "text.body": ("response", "answer"),
            "contexts": ("retrieved_contexts", "contexts"),
            "reference": ("reference", "ground_truth", "ground_truths"),
            "gold": ("reference_contexts",),
        }.items():
            if header := column(table, *names):
                roles[header] = role
        metrics = [name for name in table.headers if name not in (*roles, *_RAGAS_UNREAD)]
        fractions = [name for name in metrics if name.partition("(")[0] in _RAGAS_FRACTIONS]
        table = _single_questions(preset, table, question)
        roles |= metric_columns(preset, table, metrics, prefix="ragas", fractions=fractions)
        preset.add(table, roles, answer_constants(file, constants, "ragas"))
    return preset


def _single_questions(preset: PresetTables, table: Table, question: str) -> Table:
    """Return the table without rows whose question is a conversation."""
    label = "rows whose question is a conversation: left out"
    return rows_with(preset, table, label, lambda cells: not is_message_list(cells.get(question)))


def trulens(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read TruLens' records and feedback: a column for each feedback function."""
    preset = PresetTables()
    runs = Runs(preset)
    for file in files:
        table = only_table(file)
        required(table, "question", "input")
        required(table, "answer", "output")
        metrics = [
            name
            for name in table.headers
            if name not in _TRULENS_UNREAD
            and not name.endswith(("_calls", "_json", " feedback cost in USD", "_cost"))
        ]
        for name in ("input", "output"):
            table = _without_json_quotes(table, name)
        system_of = partial(_trulens_system, fixed=constants.get("system", ""))
        new = {"system of the app": numbered_runs(runs, system_of, "input", "output", "record_id")}
        table = with_columns(table, new, "app_name", "app_version", "app_id", "record_id")
        roles: dict[str, Any] = {
            "input": "topic.request",
            "output": "text.body",
            "system of the app": "system",
        }
        roles |= metric_columns(preset, table, metrics, prefix="trulens")
        preset.add(table, roles, answer_constants(file, constants, "trulens"))
    return preset


def _without_json_quotes(table: Table, header: str) -> Table:
    """Return the table with plain texts in a column that has JSON strings alone."""
    cells = (cells.get(header) for _, cells in table.rows())
    if not all(_json_string(cell) is not None for cell in cells if not is_empty(cell)):
        return table
    return with_columns(table, {header: lambda cells: _json_string(cells.get(header))}, header)


def _json_string(cell: Cell) -> str | None:
    if not isinstance(cell, str) or not cell.startswith('"'):
        return None
    try:
        value = json.loads(cell)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _trulens_system(cells: Mapping[str, Cell], fixed: str) -> str:
    name, version = text_cell(cells.get("app_name")), text_cell(cells.get("app_version"))
    app = f"{name}.{version}" if name and version else name or text_cell(cells.get("app_id"))
    return fixed or app


def ragchecker(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read RAGChecker's results: all of its metrics are fractions, so values of the reports."""
    preset = PresetTables()
    tables = [only_table(file, "results") for file in files]
    ambiguous = _ambiguous_ids(preset, tables)
    for file, table in zip(files, tables, strict=True):
        required(table, "question", "query")
        if ambiguous:
            passages = partial(_without_ids, ids=ambiguous)
            table = with_columns(table, {_RETRIEVED: passages}, _RETRIEVED)
        names = {
            "query_id": "topic.id",
            "query": "topic.request",
            "gt_answer": "reference",
            "response": "text.body",
            _RETRIEVED: "contexts",
        }
        roles: dict[str, Any] = {
            name: role for name, role in names.items() if name in table.headers
        }
        roles |= nested_metric_columns(
            preset, table, _RAGCHECKER_METRICS, prefix="ragchecker", are_fractions=True
        )
        preset.add(table, roles, answer_constants(file, constants, "ragchecker"))
    return preset


def _ambiguous_ids(preset: PresetTables, tables: Iterable[Table]) -> set[str]:
    """Return the ids that stand for several texts, and count the passages that have them.

    A `doc_id` can be that of a document with several chunks, or count the passages of each question.
    """
    hash_of: dict[str, str] = {}
    n_passages: Counter[str] = Counter()
    ambiguous = set()
    for table in tables:
        for _, cells in table.rows():
            for passage in _retrieved(cells):
                doc_id, text = text_cell(passage.get("doc_id")), text_cell(passage.get("text"))
                if doc_id and text:
                    n_passages[doc_id] += 1
                    text_hash = digest(text)
                    if hash_of.setdefault(doc_id, text_hash) != text_hash:
                        ambiguous.add(doc_id)
    label = "passages whose doc_id has several texts: named by their words"
    preset.counts[label] += sum(n_passages[doc_id] for doc_id in ambiguous)
    return ambiguous


def _without_ids(cells: Mapping[str, Cell], ids: set[str]) -> Cell:
    """Return the passages of a row without these ids; without any of them, the cell as it is."""
    passages = _retrieved(cells)
    if not any(text_cell(passage.get("doc_id")) in ids for passage in passages):
        return cells.get(_RETRIEVED)
    return [
        {name: value for name, value in passage.items() if name != "doc_id"}
        if text_cell(passage.get("doc_id")) in ids
        else passage
        for passage in passages
    ]


def _retrieved(cells: Mapping[str, Cell]) -> list[dict[str, Cell]]:
    """Return the passages of a row; none of a list that is broken, which the import names."""
    try:
        passages = items_of(cells.get(_RETRIEVED))
    except ListError:
        return []
    if not all(isinstance(passage, dict) for passage in passages):
        return []
    return cast(list[dict[str, Cell]], passages)


def umbrela(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read UMBRELA's judgements: grades 0 to 3 of passages for requests, by a model."""
    preset = PresetTables()
    for file in files:
        table = only_table(file)
        for name in ("query", "passage", "judgment"):
            required(table, name, name)
        new = {"grade of a readable reply": _umbrela_grade}
        table = with_columns(table, new, "judgment", "result_status")
        roles: dict[str, Any] = {
            "query": "topic.request",
            "passage": "text.body",
            "grade of a readable reply": "grade",
        }
        if column(table, "model") and "rater" not in constants:
            roles["model"] = "rater"
        base = {"text.kind": "passage", "rater.kind": "model", "rubric": "umbrela-0-3"}
        default = {} if "model" in table.headers else {"rater": "umbrela"}
        preset.add(table, roles, base | default | dict(constants))
    preset.rubrics["umbrela-0-3"] = {
        "scale": "ordinal",
        "levels": [0, 1, 2, 3],
        "eta": 2,
        "title": "UMBRELA, 0 to 3",
    }
    return preset


def _umbrela_grade(cells: Mapping[str, Cell]) -> Cell:
    """Return the grade; none where the tool could not read the reply and wrote 0."""
    return None if str(cells.get("result_status")) in ("0", "0.0") else cells.get("judgment")
