"""Preset of Inspect: logs as JSON or as an archive (.eval), and its data frame of samples."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from annotation.formats.tables import json_files
from annotation.formats.tables.cells import Cell, TableError
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    PresetError,
    PresetFileError,
    PresetTables,
    column,
    listed,
    metric_columns,
    only_table,
    other_headers,
    required,
)
from annotation.formats.tables.presets.nested import (
    ASSISTANT,
    USER,
    content_of,
    is_absent,
    parsed,
    text_cell,
    text_in,
)
from annotation.formats.tables.presets.scores import rubric_slug
from annotation.formats.tables.source import Row, Table

LETTER_GRADES = {"I": 0, "P": 1, "C": 2}
NO_ANSWER = "N"
MAX_ENTRIES = 100_000  # files of an archive
MAX_ENTRY = 64 * 2**20  # bytes of one sample, unpacked
MAX_TOTAL = 2 * 2**30  # bytes of all that is read, unpacked
_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE = re.compile(r"(?:\A|/)samples/[^/]+\.json\Z")
_ANSWERS = ("output", "completion", "output.completion", "answer", "response")
_ATTACHMENT = "attachment://"
_UNREAD = ("events", "store", "attachments", "messages", "metadata")


@dataclass(frozen=True)
class _Log:
    """Log of an evaluation: its model, and its samples with their places."""

    model: str
    scorer: str
    samples: Callable[[], Iterator[tuple[str, Mapping[str, Any]]]]


def inspect(files: Sequence[TableFile], constants: Mapping[str, str]) -> PresetTables:
    """Read Inspect's logs: a sample is a topic, its target a reference, its scores are grades."""
    preset = PresetTables()
    for file in files:
        if is_archive(file.path):
            table = _log_table(preset, file, _archive(file))
        elif file.ending == ".json" or (file.ending == ".eval"):
            log = _json_log(file)
            table = _log_table(preset, file, log) if log else _frame_table(preset, file)
        else:
            table = _frame_table(preset, file)
        _add(preset, file, table, constants)
    return preset


def is_archive(path: Path) -> bool:
    """Return whether a file is an archive: logs and spreadsheets both are."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def is_log_archive(path: Path) -> bool:
    """Return whether an archive has the files of a log."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False
    return any(name in _HEADERS for name in names) or any(map(_SAMPLE.search, names))


def is_log(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("eval"), dict)
        and ("samples" in value or "status" in value)
    )


# -- reading of logs


def _json_log(file: TableFile) -> _Log | None:
    """Return the log of a JSON file; None for an array or JSON lines, which are a data frame."""
    try:
        value = json_files.json_value(file.path)
    except TableError as error:
        if json_files.is_json_lines(file.path):
            return None
        raise PresetError(f"{file.name}{error.location}", str(error)) from error
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise PresetError(file.name, message) from error
    if not isinstance(value, dict):
        return None
    if not is_log(value):
        raise PresetError(file.name, "is no log of Inspect: it has no `eval` and `samples`")
    samples = value.get("samples")
    if not isinstance(samples, list) or not samples:
        raise PresetError(file.name, "is a log without samples")

    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        for index, sample in enumerate(samples):
            if not isinstance(sample, dict):
                raise TableError("is no JSON object", f": samples[{index}]")
            yield f"samples[{index}]", sample

    return _Log(_model(value), _first_scorer(value), rows)


def _model(header: Mapping[str, Any]) -> str:
    of_eval = header.get("eval")
    return text_cell(of_eval.get("model")) if isinstance(of_eval, dict) else ""


def _first_scorer(header: Mapping[str, Any]) -> str:
    """Return the name of a log's first scorer, for samples from before scores had names."""
    results = header.get("results")
    scores = results.get("scores") if isinstance(results, dict) else None
    first = scores[0] if isinstance(scores, list) and scores else None
    return (text_cell(first.get("name")) if isinstance(first, dict) else "") or "score"


def _archive(file: TableFile) -> _Log:
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
            if len(names) > MAX_ENTRIES:
                raise PresetError(file.name, f"has more than {MAX_ENTRIES:,} files")
            headers = [name for name in _HEADERS if name in names]
            samples = sorted({name for name in names if _SAMPLE.search(name)}, key=_natural)
            if not samples:
                message = "is no archive of Inspect with samples: it has no samples/*.json"
                raise PresetError(file.name, message)
            header = _entry(archive, headers[0], [0]) if headers else {}
    except TableError as error:
        raise PresetError(f"{file.name}{error.location}", str(error)) from error
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise PresetError(file.name, f"is a broken archive: {error}") from error

    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        total = [0]
        try:
            with zipfile.ZipFile(file.path) as opened:
                for name in samples:
                    yield name, _entry(opened, name, total)
        except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
            raise TableError(f"is a broken archive: {error}") from error

    return _Log(_model(header), _first_scorer(header), rows)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts 2_epoch_1 before 10_epoch_1."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


def _entry(archive: zipfile.ZipFile, name: str, total: list[int]) -> dict[str, Any]:
    """Return the object of a JSON file in an archive, within the limits. Raises TableError."""
    location = f": {name}"
    try:
        with archive.open(name) as file:
            data = _bounded(file, min(MAX_ENTRY, MAX_TOTAL - total[0]), location)
    except RuntimeError as error:  # encrypted, or NotImplementedError for a compression
        raise TableError(f"cannot be unpacked: {error}", location) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise TableError(f"is broken: {error}", location) from error
    total[0] += len(data)
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise TableError("is nested too deep", location) from error
    except ValueError as error:
        raise TableError(f"is broken JSON: {error}", location) from error
    if not isinstance(value, dict):
        raise TableError("is no JSON object", location)
    return value


def _bounded(file: IO[bytes], limit: int, location: str) -> bytes:
    data = file.read(limit + 1)
    if len(data) > limit:
        raise TableError(f"has more than {limit:,} bytes unpacked", location)
    return data


# -- tables of samples


def _log_table(preset: PresetTables, file: TableFile, log: _Log) -> Table:
    """Return the samples of a log as rows: id, epoch, input, output, target, and the scores."""
    rows: list[Row] = []
    locations: list[str] = []
    headers: dict[str, None] = dict.fromkeys(("id", "epoch", "input", "output", "target", "model"))
    unread: dict[str, None] = {}
    try:
        for location, sample in log.samples():
            locations.append(location)
            unread |= dict.fromkeys(name for name in _UNREAD if sample.get(name))
            if sample.get("error"):
                preset.counts["samples with an error: left out"] += 1
                continue
            cells = _sample_cells(preset, sample, log)
            headers |= dict.fromkeys(cells)
            rows.append((len(locations), cells))
    except TableError as error:
        raise PresetFileError(file.name, str(error), error.location) from error

    def location_of(row: int, header: str) -> str:
        path = f".{header}" if header else ""
        return f": {locations[row - 1]}{path}"

    names = (*headers, *unread)
    return Table(file.name, "", names, lambda: iter(rows), location_of)


def _sample_cells(preset: PresetTables, sample: Mapping[str, Any], log: _Log) -> dict[str, Cell]:
    attachments = sample.get("attachments")
    request = text_in(sample.get("input"), ("question", "input"), USER)
    cells: dict[str, Cell] = {
        "id": text_cell(sample.get("id")),
        "epoch": text_cell(sample.get("epoch")),
        "input": _attached(request, attachments),
        "output": _attached(_output(sample.get("output")), attachments),
        "target": _target(sample.get("target")),
        "model": log.model,
    }
    for scorer, score in _scores(sample, log).items():
        value = score.get("value")
        if isinstance(value, dict | list):
            preset.counts["scores that are objects or lists: not read"] += 1
        else:
            cells[f"scores.{scorer}.value"] = value
        if explanation := text_cell(score.get("explanation")):
            cells[f"scores.{scorer}.explanation"] = _attached(explanation, attachments)
    return cells


def _attached(text: str, attachments: object) -> str:
    """Return the words that a reference to an attachment stands for."""
    if text.startswith(_ATTACHMENT) and isinstance(attachments, dict):
        return text_cell(attachments.get(text.removeprefix(_ATTACHMENT))) or text
    return text


def _output(output: object) -> str:
    """Return the words of the first choice."""
    if not isinstance(output, dict):
        return text_cell(output) if isinstance(output, str) else ""
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    text = content_of(message.get("content")) if isinstance(message, dict) else ""
    return text or text_cell(output.get("completion"))


def _target(target: Any) -> list[object]:
    items = target if isinstance(target, list) else [target]
    return [text for item in items if (text := text_cell(item))]


def _scores(sample: Mapping[str, Any], log: _Log) -> dict[str, Mapping[str, Any]]:
    """Return the scores by scorer; a log from before scores had names has one, `score`."""
    scores = sample.get("scores")
    if not isinstance(scores, dict):
        scores = {log.scorer: sample["score"]} if sample.get("score") is not None else {}
    return {
        str(name): score if isinstance(score, dict) else {"value": score}
        for name, score in scores.items()
    }


def _frame_table(preset: PresetTables, file: TableFile) -> Table:
    """Return the rows of samples_df under the names of a log."""
    table = only_table(file)
    required(table, "question", "input")
    id_column = required(table, "sample's id", "id", "sample_id")
    scorers = {
        name: name.removeprefix("score_")
        for name in table.headers
        if name.startswith("score_") and name != "score_"
    }
    if not (scorers or {"epoch", "target"} & {*table.headers}):
        raise PresetError(table.name, "has none of samples_df's columns: epoch, target, score_...")
    explanations = {
        name: name.removesuffix("_explanation") for name in scorers if name.endswith("_explanation")
    }
    answer = column(table, *_ANSWERS)
    rows: list[Row] = []
    new: dict[str, None] = dict.fromkeys(("id", "epoch", "input", "output", "target", "model"))
    for number, row in table.rows():
        if not is_absent(row.get("error")):
            preset.counts["samples with an error: left out"] += 1
            continue
        cells: dict[str, Cell] = {
            "id": text_cell(row.get(id_column)),
            "epoch": text_cell(row.get("epoch")),
            "input": text_in(row.get("input"), ("question", "input"), USER),
            "output": text_in(row.get(answer), _ANSWERS, ASSISTANT),
            "target": _target(parsed(row.get("target"))),
            "model": text_cell(row.get("model")),
        }
        for header, scorer in scorers.items():
            value = parsed(row.get(header))
            if header in explanations and explanations[header] in scorers:
                name = scorers[explanations[header]]
                cells[f"scores.{name}.explanation"] = text_cell(value)
            elif isinstance(value, dict | list):
                preset.counts["scores that are objects or lists: not read"] += 1
            else:
                cells[f"scores.{scorer}.value"] = value
        new |= dict.fromkeys(cells)
        rows.append((number, cells))
    used = (id_column, "epoch", "input", "target", "model", answer, *scorers)
    return listed(table, [*new, *other_headers(table, *used)], rows)


# -- roles


def _add(preset: PresetTables, file: TableFile, table: Table, constants: Mapping[str, str]) -> None:
    rows = [row for row in table.rows() if _has_question(preset, row)]
    rows = [(number, _answered(preset, cells)) for number, cells in rows]
    headers = [*table.headers, "system of the sample"]
    values = [name for name in headers if name.startswith("scores.") and name.endswith(".value")]
    _read_letters(preset, values, rows)
    system = constants.get("system", "")
    rows = [
        (number, {**cells, "system of the sample": _system(cells, system or file.stem, system)})
        for number, cells in rows
    ]
    part = listed(table, headers, rows)
    roles: dict[str, Any] = {
        "id": "topic.id",
        "input": "topic.request",
        "output": "text.body",
        "target": "reference",
        "system of the sample": "system",
    }
    roles |= _scores_roles(preset, part, values, rows, constants)
    for name in headers:
        if name.startswith("scores.") and name.endswith(".explanation"):
            scorer = _scorer(name)
            rater_role = {} if "rater" in constants else {"rater": scorer}
            roles[name] = {"role": "comment", **rater_role}
    base = {"text.kind": "report", "rater.kind": "model"}
    preset.add(_without_used(part, ("epoch", "model")), roles, base | dict(constants))


def _without_used(table: Table, used: Iterable[str]) -> Table:
    rows = list(table.rows())
    return listed(table, [name for name in table.headers if name not in used], rows)


def _scorer(header: str) -> str:
    return header.removeprefix("scores.").rpartition(".")[0]


def _has_question(preset: PresetTables, row: Row) -> bool:
    if row[1].get("input"):
        return True
    preset.counts["samples without a question: left out"] += 1
    return False


def _answered(preset: PresetTables, cells: Mapping[str, Cell]) -> Mapping[str, Cell]:
    """Return a row without scores if it has no answer: a grade needs words that it is of."""
    if cells.get("output"):
        return cells
    scores = [name for name in cells if name.startswith("scores.")]
    n = sum(name.endswith(".value") and not is_absent(cells[name]) for name in scores)
    preset.counts["scores of samples without an answer: left out"] += n
    return {name: cell for name, cell in cells.items() if name not in scores}


def _system(cells: Mapping[str, Cell], default: str, fixed: str) -> str:
    """Return the system: the model, with the epoch if it is not the first."""
    name = fixed or text_cell(cells.get("model")) or default
    epoch = text_cell(cells.get("epoch"))
    return name if epoch in ("", "1") else f"{name}.epoch{epoch}"


def _read_letters(preset: PresetTables, headers: Sequence[str], rows: list[Row]) -> None:
    """Empty the cells of scores that say N: no answer is no grade."""
    letter_columns = {header for header in headers if _are_letter_scores(header, rows)}
    for location, (number, cells) in enumerate(rows):
        none = {name for name in letter_columns if text_cell(cells.get(name)) == NO_ANSWER}
        if none:
            preset.counts["scores N, no answer: no grade"] += len(none)
            rows[location] = number, {**cells, **dict.fromkeys(none, None)}


def _are_letter_scores(header: str, rows: Sequence[Row]) -> bool:
    texts = {text_cell(cells.get(header)) for _, cells in rows} - {""}
    return bool(texts) and texts <= {*LETTER_GRADES, NO_ANSWER}


def _scores_roles(
    preset: PresetTables,
    table: Table,
    headers: Sequence[str],
    rows: Sequence[Row],
    constants: Mapping[str, str],
) -> dict[str, Any]:
    roles: dict[str, Any] = {}
    by_scorer: dict[str, list[str]] = defaultdict(list)
    for header in headers:
        by_scorer[_scorer(header)].append(header)
    for scorer, of_scorer in by_scorer.items():
        rater_role = {} if "rater" in constants else {"rater": scorer}
        letter_columns = [name for name in of_scorer if _are_letter_scores(name, rows)]
        for header in letter_columns:
            slug = rubric_slug("inspect", scorer)
            roles[header] = {"role": "grade", "rubric": slug, **rater_role}
            preset.rubrics[slug] = {
                "scale": "ordinal",
                "levels": dict(LETTER_GRADES),
                "eta": 2,
                "title": scorer,
            }
        other_columns = [name for name in of_scorer if name not in letter_columns]
        roles |= metric_columns(
            preset,
            table,
            other_columns,
            prefix="inspect",
            name_of=_scorer,
            rater=rater_role,
            values=[constants.get("value", "")],
        )
    return roles
