"""Files of annotation tools: what is written, and that it comes back as it was."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.formats import long_table
from annotation.formats.gradings import TOOLS
from annotation.models import Dataset, Rater, Rating
from crux_site.imports.importing import import_dataset
from tests.crux_site.imports.study import fingerprint, study, write

pytestmark = pytest.mark.django_db

ENDING = {"label-studio": "json", "argilla": "json", "potato": "jsonl", "web-annotation": "jsonl"}
# Emoji of two units of UTF-16, a combining accent, words from right to left, line ends of Windows.
BODY = "🚢 Cafe\u0301 🚢 عبّارة هالدن\r\nsank.\r\nIt sank twice, 🚢."
PASSAGE = "t-1:9#9"


def span(words: str, nth: int = 0) -> dict:
    start = -1
    for _ in range(nth + 1):
        start = BODY.index(words, start + 1)
    return {"start": start, "end": start + len(words), "quote": words}


def given(rater: str, place: int, grade: int, *spans: dict, kind: str = "human", rubric="graded"):
    about = {"rater": rater, "kind": kind, "rubric": rubric, "text": PASSAGE}
    return {**about, "question_index": place, "grade": grade, "spans": list(spans)}


RATINGS = [
    given("ann", 0, 5, span("🚢", 1), span("عبّارة هالدن\r\nsank")),
    given("ann", 0, 1, rubric="question-type"),
    # Overlapping, and the one that is twice in the text by its second place.
    given("bob", 0, 4, span("sank", 1), span("sank twice, 🚢"), span("e\u0301 🚢")),
    given("bob", 1, 2, {"quote": "not in the text 🚢"}, span("sank")),
    given("bob", 2, 1, {"quote": "هالدن sank. It"}, {"quote": "nowhere"}, span("Cafe")),
    given("m-1", 0, 3, span("twice"), kind="model"),
    given("m-2", 0, 0, kind="model"),
    given("rule", 0, 2, span("It"), kind="baseline"),
    given("rule", 1, 0, kind="baseline"),
]


@pytest.fixture
def small(tmp_path) -> Dataset:
    files = study()
    files["passages.jsonl"] = [*files["passages.jsonl"], {"id": PASSAGE, "contents": BODY}]
    files["ratings.jsonl"] = RATINGS
    import_dataset(write(tmp_path / "small", files), "small")
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
        return json.loads(text)
    return [json.loads(line) for line in text.split("\n") if line]


def table(dataset: Dataset) -> list[dict]:
    """The long table but for when grades were stored, and for the version of a judge of this site."""
    return [{**row, "created": None, "judge_version": ""} for row in long_table.rows(dataset)]


def without_ratings(dataset: Dataset) -> None:
    Rating.objects.of_dataset(dataset).delete()
    Rater.objects.filter(dataset=dataset).delete()


def test_the_study_has_what_is_hard_about_spans(small):
    rows = [row for row in table(small) if row["text"] == PASSAGE]
    located = [each["located"] for row in rows for each in row["spans"]]
    assert {kind: located.count(kind) for kind in set(located)} == {
        "exact": 9,
        "normalised": 1,
        "unlocated": 2,
    }


@pytest.mark.parametrize("form", TOOLS)
def test_what_is_exported_comes_back_as_it_was(tmp_path, small, form):
    path = tmp_path / f"out.{ENDING[form]}"
    export("small", form, path)
    before, database = table(small), fingerprint()
    # Into the study itself: nothing changes.
    assert not import_dataset(path, "small", form=form).changed
    assert fingerprint() == database
    # Into an empty copy: everybody, every grade and every span is there again.
    without_ratings(small)
    assert not table(small)
    summary = import_dataset(path, "small", form=form)
    assert table(small) == before
    assert summary.created["ratings"] == len(before)
    again = tmp_path / f"again.{ENDING[form]}"
    export("small", form, again)
    assert again.read_bytes() == path.read_bytes()
