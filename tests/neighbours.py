"""Real data of neighbouring papers, which are not part of this repository, and the values expected of them."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Dataset, Rubric, RubricLevel
from crux_site.imports.importing import import_dataset
from tests.crux_site.imports.study import write

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "neighbours"
FOLDER = Path(os.environ.get("NEIGHBOURS_DATA", BESIDE))
IS_THERE = (FOLDER / "expected_values.json").is_file()
MISSING = (
    f"THE NEIGHBOURS' DATA ARE NOT CHECKED: none at {FOLDER}; NEIGHBOURS_DATA says where they are"
)

needs_them = pytest.mark.skipif(not IS_THERE, reason=MISSING)


def expected(family: str) -> Any:
    return json.loads((FOLDER / "expected_values.json").read_text())[family]


def lines(path: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / path).read_text().splitlines()]


def make_rubric(slug: str, levels: dict[int, str], **more: Any) -> Rubric:
    """A rubric of these grades and names."""
    rubric = Rubric.objects.create(slug=slug, title=slug, **more)
    RubricLevel.objects.bulk_create(
        RubricLevel(rubric=rubric, grade=grade, name=name, label=name)
        for grade, name in levels.items()
    )
    return rubric


def line(rater: str, rubric: str, text: str, grade: int, **more: Any) -> dict[str, Any]:
    """A line of ratings.jsonl, about the first question of the text's topic."""
    return {"rater": rater, "kind": "human", "rubric": rubric, "text": text, "grade": grade} | (
        {"question_index": 0} | more
    )


def imported(folder: Path, slug: str, files: dict[str, Iterable[dict[str, Any]]]) -> Dataset:
    """A dataset as somebody would bring it here: a folder of files, read as a whole."""
    write(folder, {name: list(rows) for name, rows in files.items()})
    import_dataset(folder, slug)
    return Dataset.objects.get(slug=slug)
