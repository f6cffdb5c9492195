"""Presets of LangSmith and promptfoo: results of experiments, with a row for each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    ANSWERS,
    QUESTIONS,
    PresetError,
    PresetTables,
    Runs,
    answer_constants,
    column,
    metric_columns,
    nested_metric_columns,
    numbered_runs,
    only_table,
    other_headers,
    required,
    rows_answered,
    with_columns,
)
from annotation.formats.tables.presets.nested import (
    ASSISTANT,
    USER,
    nested_value,
    parsed,
    text_cell,
    text_in,
)
from annotation.formats.tables.source import Table, is_empty

Constants = Mapping[str, str]


def langsmith(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read LangSmith's results of an experiment, or its data set, with flattened columns."""
    preset = PresetTables()
    runs = Runs(preset)
    for file in files:
        table = only_table(file)
        question = _one_of(table, "inputs.", QUESTIONS)
        answer = _one_of(table, "outputs.", ANSWERS, optional=True)
        reference = _one_of(table, "reference.", ANSWERS, optional=True) or _one_of(
            table, "reference_outputs.", ANSWERS, optional=True
        )
        new = {
            "question of the inputs": partial(
                _text_of, header=question, names=QUESTIONS, roles=USER
            ),
            "answer without an error": partial(_langsmith_answer, answer=answer),
        }
        if reference:
            new["reference answer"] = partial(
                _text_of, header=reference, names=ANSWERS, roles=ASSISTANT
            )
        table = with_columns(table, new, *filter(None, (question, answer, reference, "error")))
        roles: dict[str, Any] = {"question of the inputs": "topic.request"}
        if column(table, "example_id"):
            roles["example_id"] = "topic.id"
        if answer:
            roles["answer without an error"] = "text.body"
            roles["experiment"] = "system"
            table = rows_answered(preset, table, "answer without an error")
            system_of = partial(_constant, name=constants.get("system") or file.stem)
            part = ("question of the inputs", "answer without an error", "id")
            table = with_columns(table, {"experiment": numbered_runs(runs, system_of, *part)}, "id")
        if reference:
            roles["reference answer"] = "reference"
        roles |= nested_metric_columns(preset, table, "feedback.", prefix="langsmith")
        preset.add(table, roles, answer_constants(file, constants, "langsmith"))
    return preset


def _constant(cells: Mapping[str, Cell], name: str) -> str:
    return name


def _one_of(
    table: Table,
    prefix: str,
    common_names: Sequence[str],
    *,
    optional: bool = False,
    is_json_read: bool = True,
) -> str:
    """Return the column below a prefix: the only one, or the one of a known name.

    `is_json_read`: without such columns, the column called like the prefix, which holds JSON.
    """
    names = [name for name in table.headers if name.startswith(prefix)]
    for name in common_names:
        if prefix + name in names:
            return prefix + name
    if len(names) == 1:
        return names[0]
    if not names and is_json_read and prefix.rstrip(".") in table.headers:
        return prefix.rstrip(".")  # an object as JSON in a cell
    if optional:
        return ""
    listed = ", ".join(names) or f"none begins with {prefix}"
    raise PresetError(table.name, f"which column is the question? ({listed}) Use a mapping.")


def _langsmith_answer(cells: Mapping[str, Cell], answer: str) -> Cell:
    if not is_empty(cells.get("error")):
        return None
    return _text_of(cells, answer, ANSWERS, ASSISTANT)


def _text_of(
    cells: Mapping[str, Cell], header: str, names: Sequence[str], roles: Sequence[str]
) -> Cell:
    """Return the text of a cell, also of an object or a conversation; else the cell itself."""
    cell = cells.get(header)
    is_nested = isinstance(parsed(cell), list | dict)
    return (text_in(cell, names, roles) or cell) if is_nested else cell


def promptfoo(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read promptfoo's results.json: a result for each test, provider and prompt."""
    preset = PresetTables()
    runs = Runs(preset)
    for file in files:
        table = only_table(file, "results.results", "results")
        question = _one_of(table, "vars.", QUESTIONS, is_json_read=False)
        output = _promptfoo_output(table)
        contexts = column(
            table, "vars.contexts", "vars.context", "vars.retrieved_contexts", "vars.documents"
        )
        fixed = constants.get("system", "")
        system_of = partial(_promptfoo_system, prompts=_prompts(table), fixed=fixed)
        answers = {"words of the output": partial(_promptfoo_answer, output=output)}
        table = rows_answered(preset, with_columns(table, answers, output), "words of the output")
        name = numbered_runs(runs, system_of, question, "words of the output", "testIdx")
        used = ("provider", "promptIdx", "testIdx")
        table = with_columns(table, {"provider and prompt": name}, *used)
        roles: dict[str, Any] = {
            question: "topic.request",
            "words of the output": "text.body",
            "provider and prompt": "system",
        }
        if contexts:
            roles[contexts] = "contexts"
        roles |= nested_metric_columns(preset, table, "namedScores.", prefix="promptfoo")
        if column(table, "success"):
            roles |= metric_columns(preset, table, ["success"], prefix="promptfoo")
        preset.add(table, roles, answer_constants(file, constants, "promptfoo", "baseline"))
    return preset


def _promptfoo_output(table: Table) -> str:
    """Return the column of outputs, or the path of their objects. Raises PresetError."""
    for name in ("response.output", "output"):
        if len(other_headers(table, name)) < len(table.headers):
            return name
    return required(table, "answer", "response.output", "output")


def _promptfoo_answer(cells: Mapping[str, Cell], output: str) -> Cell:
    """Return the output: a text, or the text of an answer in an object."""
    cell = cells.get(output)
    if isinstance(cell, str | bool):
        return cell
    return text_in(nested_value(cells, output), ANSWERS, ASSISTANT)


def _provider(cells: Mapping[str, Cell]) -> str:
    names = ("provider.label", "provider.id", "provider")
    return next((text for name in names if (text := text_cell(cells.get(name)))), "promptfoo")


def _prompts(table: Table) -> dict[str, list[str]]:
    """Return the prompts of each provider, by their index in the file."""
    prompts: dict[str, dict[str, None]] = {}
    for _, cells in table.rows():
        prompts.setdefault(_provider(cells), {})[text_cell(cells.get("promptIdx"))] = None
    return {provider: sorted(names, key=_by_number) for provider, names in prompts.items()}


def _by_number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else -1), text


def _promptfoo_system(
    cells: Mapping[str, Cell], prompts: Mapping[str, list[str]], fixed: str
) -> str:
    """Return the provider, with the number of the prompt if it was asked under several."""
    provider = _provider(cells)
    numbers = prompts[provider]
    if len(numbers) < 2:
        return fixed or provider
    return f"{fixed or provider}.prompt{numbers.index(text_cell(cells.get('promptIdx'))) + 1}"
