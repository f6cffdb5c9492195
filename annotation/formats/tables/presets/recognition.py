"""Recognition of the tool that wrote files, by the headers of their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from annotation.formats.tables import json_files
from annotation.formats.tables.cells import TableError
from annotation.formats.tables.files import TableFile, open_tables
from annotation.formats.tables.mapping import TableMapping
from annotation.formats.tables.presets import (
    annotation_tools,
    deepeval,
    inspect_logs,
    this_site,
    traces,
)
from annotation.formats.tables.presets.forms import is_form
from annotation.formats.tables.presets.nested import parsed, text_cell
from annotation.formats.tables.presets.open_rag_eval import SCORES
from annotation.formats.tables.source import Row, Table, is_empty

FIRST_ROWS = 20
MAX_JSON = 64 * 2**20  # bytes of a JSON file that is parsed to recognise it
Shape = Callable[[Table, Sequence[Row]], bool]


def recognise(files: Sequence[TableFile]) -> str:
    """Return the preset whose tool wrote the files; "" where there is none or more than one.

    Only headers and first rows are read. Files that cannot be read are not recognised.
    """
    presets: set[str] | None = None
    for file in files:
        fitting = _presets_of(file)
        presets = fitting if presets is None else presets & fitting
    if not presets or len(presets) > 1:
        return ""
    (name,) = presets
    if name in _NEEDED and not any(_NEEDED[name](headers) for headers in map(_headers, files)):
        return ""
    return name


def _presets_of(file: TableFile) -> set[str]:
    try:
        if inspect_logs.is_archive(file.path):
            if inspect_logs.is_log_archive(file.path):
                return {"inspect"}
        elif file.ending == ".json" and file.path.stat().st_size > MAX_JSON:
            return set()
        elif name := _preset_of_json(file):
            return {name}
        table = _table(file)
        if table is None:
            return set()
        rows = list(islice(table.rows(), FIRST_ROWS))
    except (TableError, OSError):
        return set()
    return {name for name, is_shape in _SHAPES.items() if is_shape(table, rows)}


def _preset_of_json(file: TableFile) -> str:
    """Return the preset of a JSON file that is no table: a log, run or cache; else ""."""
    if file.ending != ".json" or json_files.is_json_lines(file.path):
        return ""
    value = json_files.json_value(file.path)
    if inspect_logs.is_log(value):
        return "inspect"
    return "deepeval" if deepeval.is_cache(value) or deepeval.is_run(value) else ""


def _table(file: TableFile) -> Table | None:
    """Return the only table of a file, or the array of results that tools name so."""
    try:
        tables = open_tables(file)
    except ImportError:  # a reader that is an extra
        return None
    except TableError:
        if file.ending != ".json":
            raise
        for records in ("results.results", "results", *deepeval.RECORDS):
            try:
                return open_tables(file, TableMapping(columns={}, records=records))[0]
            except TableError:
                continue
        raise
    return tables[0] if len(tables) == 1 else None


def _headers(file: TableFile) -> tuple[str, ...]:
    try:
        table = _table(file)
    except (TableError, OSError):
        return ()
    return table.headers if table else ()


def _has(table: Table, *names: str) -> bool:
    return {*names} <= {*table.headers}


def _any(table: Table, *names: str) -> bool:
    return bool({*names} & {*table.headers})


def _below(table: Table, *prefixes: str) -> bool:
    return any(name.startswith(prefixes) for name in table.headers)


def _texts(rows: Iterable[Row], header: str) -> set[str]:
    cells = (row.get(header) for _, row in rows)
    return {text_cell(cell) for cell in cells if not is_empty(cell)}


def _is_crux_long(table: Table, rows: Sequence[Row]) -> bool:
    return (
        _has(table, "rater", "rater_kind", "rubric", "text", "text_sha256", "grade")
        or this_site.is_labels(table.headers)
        or this_site.is_attempts(table.headers)
    )


def _is_ragas(table: Table, rows: Sequence[Row]) -> bool:
    if _has(table, "user_input") and _any(
        table, "response", "retrieved_contexts", "reference", "reference_contexts"
    ):
        return True
    # The names from before 0.2 are plain words: contexts and a further name of Ragas are needed.
    return _has(table, "question", "answer", "contexts") and _any(
        table, "ground_truth", "ground_truths", *_RAGAS_METRICS
    )


_RAGAS_METRICS = (
    *("answer_relevancy", "context_precision", "context_recall", "context_relevancy"),
    *("answer_correctness", "answer_similarity", "context_entity_recall", "context_utilization"),
)


def _is_deepeval(table: Table, rows: Sequence[Row]) -> bool:
    return _has(table, "input") and _any(
        table,
        *("actual_output", "actualOutput", "retrieval_context", "retrievalContext"),
        *("expected_output", "expectedOutput"),
    )


def _is_trulens(table: Table, rows: Sequence[Row]) -> bool:
    return _has(table, "record_id", "input", "output") and _any(
        table, "app_name", "app_id", "app_version"
    )


def _is_langsmith(table: Table, rows: Sequence[Row]) -> bool:
    return _below(table, "inputs.") and (
        _below(table, "outputs.", "reference.", "reference_outputs.", "feedback.")
        or _has(table, "example_id")
    )


def _is_promptfoo(table: Table, rows: Sequence[Row]) -> bool:
    return _below(table, "vars.") and (
        _any(table, "response.output", "success") or _below(table, "namedScores.", "provider")
    )


def _is_ragchecker(table: Table, rows: Sequence[Row]) -> bool:
    return _has(table, "query_id", "query", "response") and (
        _any(table, "gt_answer", "retrieved_context") or _below(table, "metrics.")
    )


def _is_umbrela(table: Table, rows: Sequence[Row]) -> bool:
    return _has(table, "query", "passage", "judgment")


def _is_open_rag_eval(table: Table, rows: Sequence[Row]) -> bool:
    return _has(table, "query") and (
        _has(table, "query_run", "passage")
        or _has(table, "passage_id", "generated_answer")
        or _below(table, *SCORES)
    )


def _is_doccano(table: Table, rows: Sequence[Row]) -> bool:
    if _any(table, "answer", "_task_hash", "_input_hash") or not _any(table, "text", "data"):
        return False
    if _has(table, "entities", "relations"):
        return True
    header = "label" if _has(table, "label") else "labels"
    values = [parsed(cells.get(header)) for _, cells in rows]
    if _has(table, "id", "Comments", header):
        return True
    # A list of [start, end, label] is a shape that few other tools write.
    parts = [part for value in values if isinstance(value, list) for part in value]
    of_spans = [part for part in parts if isinstance(part, list) and len(part) == 3]
    return bool(parts) and len(of_spans) == len(parts)


def _is_prodigy(table: Table, rows: Sequence[Row]) -> bool:
    answers = _texts(rows, "answer")
    return (
        _has(table, "text", "answer")
        and bool(answers)
        and answers <= {*annotation_tools.ANSWERS}
        and _any(table, "_task_hash", "_input_hash", "_session_id", "_annotator_id", "_view_id")
    )


def _is_google_forms(table: Table, rows: Sequence[Row]) -> bool:
    return is_form(table.headers)


def _is_inspect(table: Table, rows: Sequence[Row]) -> bool:
    return (
        _has(table, "input", "epoch")
        and _any(table, "id", "sample_id")
        and (_below(table, "score_") or _any(table, "eval_id", "target"))
    )


def _is_langfuse(table: Table, rows: Sequence[Row]) -> bool:
    if traces.is_langfuse_scores(table.headers):
        return _any(table, "data_type", "dataType", "string_value", "stringValue", "source")
    names = {name.partition(".")[0] for name in table.headers}
    of_tool = {"timestamp", "session_id", "sessionId", "user_id", "userId", "release", "tags"}
    return {"id", "input", "output", "name"} <= names and bool(names & of_tool)


def _is_phoenix(table: Table, rows: Sequence[Row]) -> bool:
    if traces.is_phoenix_spans(table.headers):
        return _any(table, "context.trace_id", "parent_id", "span_kind")
    return traces.is_phoenix_annotations(table.headers) and _any(
        table, "annotation_name", "annotator_kind", "result.score", "result.label"
    )


_SHAPES: dict[str, Shape] = {
    "crux-long": _is_crux_long,
    "deepeval": _is_deepeval,
    "doccano": _is_doccano,
    "google-forms": _is_google_forms,
    "inspect": _is_inspect,
    "langfuse": _is_langfuse,
    "langsmith": _is_langsmith,
    "open-rag-eval": _is_open_rag_eval,
    "phoenix": _is_phoenix,
    "prodigy": _is_prodigy,
    "promptfoo": _is_promptfoo,
    "ragas": _is_ragas,
    "ragchecker": _is_ragchecker,
    "trulens": _is_trulens,
    "umbrela": _is_umbrela,
}
_NEEDED: dict[str, Callable[[Iterable[str]], bool]] = {
    "langfuse": traces.is_langfuse_traces,
    "phoenix": traces.is_phoenix_spans,
}
"""Table without which the others of a tool have nothing to be about."""
