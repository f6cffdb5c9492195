"""Small study with unusual characters, and exports for annotation tools."""

import json
from io import StringIO
from pathlib import Path

from django.core.management import call_command

from annotation.formats import long_table
from annotation.models import Dataset, Rater, Rating
from crux_site.imports.importing import import_dataset
from tests.toolbox.import_study import study, write

# Emoji of two units of UTF-16, a combining accent, words from right to left, line ends of Windows.
BODY = "🚢 Cafe\u0301 🚢 عبّارة هالدن\r\nsank.\r\nIt sank twice, 🚢."
PASSAGE = "t-1:9#9"


def span(quote: str, nth: int = 0) -> dict:
    start = -1
    for _ in range(nth + 1):
        start = BODY.index(quote, start + 1)
    return {"start": start, "end": start + len(quote), "quote": quote}


def rating_row(
    rater: str, question_index: int, grade: int, *spans: dict, kind: str = "human", rubric="graded"
):
    about = {"rater": rater, "kind": kind, "rubric": rubric, "text": PASSAGE}
    return {**about, "question_index": question_index, "grade": grade, "spans": list(spans)}


RATINGS = [
    rating_row("ann", 0, 5, span("🚢", 1), span("عبّارة هالدن\r\nsank")),
    rating_row("ann", 0, 1, rubric="question-type"),
    # Overlapping, and the one that is twice in the text by its second place.
    rating_row("bob", 0, 4, span("sank", 1), span("sank twice, 🚢"), span("e\u0301 🚢")),
    rating_row("bob", 1, 2, {"quote": "not in the text 🚢"}, span("sank")),
    rating_row("bob", 2, 1, {"quote": "هالدن sank. It"}, {"quote": "nowhere"}, span("Cafe")),
    rating_row("m-1", 0, 3, span("twice"), kind="model"),
    rating_row("m-2", 0, 0, kind="model"),
    rating_row("rule", 0, 2, span("It"), kind="baseline"),
    rating_row("rule", 1, 0, kind="baseline"),
]


def make_small(folder: Path) -> Dataset:
    """The small study with a text of unusual characters, graded and marked by all rater kinds."""
    files = study()
    files["passages.jsonl"] = [*files["passages.jsonl"], {"id": PASSAGE, "contents": BODY}]
    files["ratings.jsonl"] = RATINGS
    import_dataset(write(folder, files), "small")
    return Dataset.objects.get(slug="small")


def export(slug: str, form: str, path) -> str:
    err = StringIO()
    call_command(
        "export_dataset", slug, "--format", form, "--out", str(path), stdout=StringIO(), stderr=err
    )
    return err.getvalue()


def objects(path) -> list[dict]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        whole = json.loads(text)
        return whole if isinstance(whole, list) else whole["items"]
    return [json.loads(line) for line in text.split("\n") if line]


def table(dataset: Dataset) -> list[dict]:
    """The long table without times of grades and without the version of a site's judge."""
    return [{**row, "created": None, "judge_version": ""} for row in long_table.rows(dataset)]


def without_ratings(dataset: Dataset) -> None:
    Rating.objects.of_dataset(dataset).delete()
    Rater.objects.filter(dataset=dataset).delete()
