"""Provenance of the files: versions, hashes of the data, and options."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from annotation.models import Dataset, Rubric, SubQuestion, Text
from annotation.models.rating import raters_of
from evaluation.data.edited_text_grades import edited_text_grades
from evaluation.data.ratings import frame
from evaluation.models import RankedText

CHUNK = 10_000


def content_hashes(dataset: Dataset) -> dict[str, Any]:
    """Return SHA-256 hashes of questions, texts, runs, each rater's ratings, and of all.

    They follow from names, texts and grades alone: neither primary keys nor times nor the order of
    rows enter. Highlights do not either, since no table is computed from them. The same data
    imported into two databases have the same hashes.
    """
    questions, texts = _questions(dataset), _texts(dataset)
    positions = _line_positions(questions), _line_positions(texts)
    hashes = {
        "questions": _hash_lines(questions.values()),
        "texts": _hash_lines(texts.values()),
        "runs": _runs(dataset, texts),
        "ratings": _ratings(dataset, *positions),
    }
    return {**hashes, "sha256": sha256(json.dumps(hashes, sort_keys=True).encode())}


def earlier_grades(dataset: Dataset) -> dict[str, dict[str, int]]:
    """Return the counts of grades given to text that has changed since; empty without any."""
    earlier = edited_text_grades(dataset)
    if earlier is None or not earlier.sentences:
        return {}
    return {
        "grades_of_earlier_words": {
            "counted": earlier.n_valid,
            "of_texts": earlier.n_texts,
            "of_questions": earlier.n_questions,
            "set_aside": earlier.n_superseded,
        }
    }


def _questions(dataset: Dataset) -> dict[int, str]:
    questions = SubQuestion.objects.filter(topic__dataset=dataset).order_by()
    fields = (
        "topic__name",
        "topic__request",
        "position",
        "body",
        "filtered_because",
        "filtered_eta",
    )
    return {pk: _line(*row) for pk, *row in questions.values_list("pk", *fields)}


def _texts(dataset: Dataset) -> dict[int, str]:
    texts = Text.objects.filter(dataset=dataset).order_by()
    fields = ("kind", "system", "name", "topic__name", "sha256")
    return {pk: _line(*row) for pk, *row in texts.values_list("pk", *fields)}


def _runs(dataset: Dataset, texts: dict[int, str]) -> str:
    ranked = RankedText.objects.filter(run__dataset=dataset).order_by()
    fields = ("run__name", "topic__name", "rank", "text_id")
    rows = ranked.values_list(*fields).iterator(chunk_size=CHUNK)
    return _hash_lines(_line(run, topic, rank, texts[text]) for run, topic, rank, text in rows)


def _ratings(
    dataset: Dataset, questions: dict[int, int], texts: dict[int, int]
) -> dict[str, dict[str, str | int]]:
    """Return number and hash by rater and rubric, of (text, question, grade) in that order."""
    raters = {rater.pk: name for name, rater in raters_of(dataset).items()}
    rubrics = dict(Rubric.objects.values_list("pk", "slug"))
    rows = frame(dataset)
    rows["text"], rows["question"] = rows["text"].map(texts), rows["question"].map(questions)
    rows = rows.sort_values(["text", "question"])
    hashes: dict[str, dict[str, str | int]] = {}
    for (rater, rubric), group in rows.groupby(["rater", "rubric"]):
        cells = group[["text", "question", "grade"]].to_numpy("<i8")
        hashes[f"{raters[rater]}, {rubrics[rubric]}"] = {
            "n": len(group),
            "sha256": hashlib.sha256(cells.tobytes()).hexdigest(),
        }
    return hashes


def _line_positions(lines: dict[int, str]) -> dict[int, int]:
    """Return the index of each primary key's line among all sorted lines.

    It is the same in each database.
    """
    return {pk: position for position, pk in enumerate(sorted(lines, key=lines.__getitem__))}


def _line(*values: object) -> str:
    return json.dumps(values, ensure_ascii=True, separators=(",", ":"))


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


# The libraries that compute numbers or draw figures.
LIBRARIES = ("django", "matplotlib", "numpy", "pandas", "scipy")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that compute and draw."""
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def command_line(dataset: str | None, options: Mapping[str, str | int | bool | None]) -> str:
    """Return the command with all options explicit, in order of name, except its output path.

    An option of None or False is left out, one of True stands without a value.
    """
    arguments = ["manage.py", "tables", *([dataset] if dataset else [])]
    for name, value in sorted(options.items()):
        if value is not None and value is not False:
            arguments += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join(arguments)


def provenance(
    files: Mapping[str, bytes], skipped: Mapping[str, str], metadata: Mapping[str, Any]
) -> bytes:
    """Return the provenance file: JSON with sorted keys, the same in each run.

    `files` are all others by name, `skipped` has the reason of each table that was not made, and
    `metadata` the command, the options and the data.
    """
    record = {
        **metadata,
        "versions": versions(),
        "files": {name: {"sha256": sha256(content)} for name, content in files.items()},
        "skipped": dict(skipped),
    }
    text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()
