"""Real data of neighbouring papers, with their expected values.

The data are not part of this repository.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Dataset, Rubric, RubricLevel
from crux_site.imports.importing import import_dataset
from tests.toolbox.import_study import write

DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "neighbours"
FOLDER = Path(os.environ.get("NEIGHBOURS_DATA", DEFAULT_FOLDER))
IS_AVAILABLE = (FOLDER / "expected_values.json").is_file()
MISSING = (
    f"THE NEIGHBOURS' DATA ARE NOT CHECKED: none at {FOLDER}; NEIGHBOURS_DATA says where they are"
)

needs_neighbours = pytest.mark.skipif(not IS_AVAILABLE, reason=MISSING)


def expected(family: str) -> Any:
    return json.loads((FOLDER / "expected_values.json").read_text())[family]


def lines(path: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / path).read_text().splitlines()]


def make_rubric(slug: str, levels: dict[int, str], **more: Any) -> Rubric:
    """Create a rubric of these grades and names."""
    rubric = Rubric.objects.create(slug=slug, title=slug, **more)
    RubricLevel.objects.bulk_create(
        RubricLevel(rubric=rubric, grade=grade, name=name, label=name)
        for grade, name in levels.items()
    )
    return rubric


def line(rater: str, rubric: str, text: str, grade: int, **more: Any) -> dict[str, Any]:
    """Return a line of ratings.jsonl, about the first question of the text's topic."""
    return {"rater": rater, "kind": "human", "rubric": rubric, "text": text, "grade": grade} | (
        {"question_index": 0} | more
    )


def import_files(folder: Path, slug: str, files: dict[str, Iterable[dict[str, Any]]]) -> Dataset:
    """Import a dataset from a folder of files, as a user would."""
    write(folder, {name: list(rows) for name, rows in files.items()})
    import_dataset(folder, slug)
    return Dataset.objects.get(slug=slug)


DECISIONS = {"yes": 0, "no": 1, "maybe": 2}
DECISION = {
    "slug": "decision",
    "title": "What the abstract decides",
    "scale": "nominal",
    "guideline": "Read the abstract.",
    "levels": [{"grade": n, "label": name, "name": name} for name, n in DECISIONS.items()],
}
