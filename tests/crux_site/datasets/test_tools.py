"""Files of annotation tools: what is written, and that it comes back as it was."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.formats import long_table
from annotation.formats.gradings import TOOLS
from annotation.models import Dataset, Rater, Rating, Rubric, RubricLevel
from crux_site.imports.importing import import_dataset
from tests.crux_site.datasets.tool_shapes import SHAPES
from tests.crux_site.imports.study import fingerprint, study, write

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ENDING = {"label-studio": "json", "argilla": "json", "potato": "jsonl", "web-annotation": "json"}
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


def make_small(folder: Path) -> Dataset:
    """The small study with a text of every kind of sign, graded and marked by all kinds of raters."""
    files = study()
    files["passages.jsonl"] = [*files["passages.jsonl"], {"id": PASSAGE, "contents": BODY}]
    files["ratings.jsonl"] = RATINGS
    import_dataset(write(folder, files), "small")
    return Dataset.objects.get(slug="small")


@pytest.fixture
def small(tmp_path) -> Dataset:
    return make_small(tmp_path / "small")


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


@pytest.mark.parametrize("form", TOOLS)
def test_the_files_have_the_shapes_that_the_tools_document(tmp_path, small, form):
    path = tmp_path / f"out.{ENDING[form]}"
    export("small", form, path)
    assert [SHAPES[form].model_validate(each) for each in objects(path)]


def test_web_annotations_are_one_page(tmp_path, small):
    export("small", "web-annotation", tmp_path / "out.json")
    page = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert page.pop("items")
    assert page == {
        "@context": ["http://www.w3.org/ns/anno.jsonld", {"crux": "urn:x-crux:"}],
        "id": "urn:x-crux:dataset/small",
        "type": "AnnotationPage",
    }


def about_the_pair(small: Dataset, tmp_path, form: str) -> list[dict]:
    """What a file has of the first question and the passage."""
    path = tmp_path / f"out.{ENDING[form]}"
    export("small", form, path)
    name = "t-1/0/passage//t-1:9%239"
    keys = ("id", "instance_id", "crux:pair")
    return [
        each
        for each in objects(path)
        if name in [*(each.get(key) for key in keys), each.get("data", {}).get("pair")]
    ]


def test_places_are_counted_as_each_tool_counts(tmp_path, small):
    """The second ship is the 9th code point (from 0: ship, blank, C a f e accent blank) and, since the first
    ship takes two units of UTF-16, the 9th to 11th unit."""
    assert BODY[8] == "🚢"
    (task,) = about_the_pair(small, tmp_path, "label-studio")
    ann = task["annotations"][0]
    # Without an account: Label Studio has none that is called so, and would refuse the file.
    assert task["meta"]["raters"][str(ann["id"])] == "ann"
    assert [each["type"] for each in ann["result"]] == ["choices", "labels", "labels", "choices"]
    assert ann["result"][1]["value"] == {"start": 8, "end": 9, "text": "🚢", "labels": ["graded"]}
    assert [each["model_version"] for each in task["predictions"]] == ["m-1", "m-2", "rule"]
    (record,) = about_the_pair(small, tmp_path, "argilla")
    assert record["responses"]["nugget-spans"][0]["value"][0] == {
        "start": 9,
        "end": 11,
        "label": "graded",
    }
    assert record["suggestions"]["graded"] == {"value": 3, "score": None, "agent": "m-1"}
    line = about_the_pair(small, tmp_path, "potato")[0]
    assert line["labels"] == {"graded": {"5": "5"}, "question-type": {"1": "1"}}
    assert (line["spans"]["nugget-spans"][0]["start"], line["spans"]["nugget-spans"][0]["end"]) == (
        8,
        9,
    )
    first = about_the_pair(small, tmp_path, "web-annotation")[0]
    place, quote = first["target"][0]["selector"]
    assert place == {"type": "TextPositionSelector", "start": 8, "end": 9}
    assert quote == {
        "type": "TextQuoteSelector",
        "prefix": BODY[:8],
        "exact": "🚢",
        "suffix": BODY[9:41],
    }


def test_large_grades_are_labels_in_argilla(tmp_path, small):
    RubricLevel.objects.create(rubric=Rubric.objects.get(slug="graded"), grade=11, label="more")
    (record,) = about_the_pair(small, tmp_path, "argilla")
    assert record["suggestions"]["graded"]["value"] == "3"
    assert record["responses"]["question-type"][0]["value"] == 1


def test_aggregates_are_left_out_and_counted(tmp_path, small):
    rating = Rating.objects.filter(rater__name="ann", rubric__slug="graded").first()
    most = Rater.objects.create(dataset=small, name="most", kind=Rater.Kind.AGGREGATE)
    Rating.objects.add(most.pk, rating.rubric_id, [(rating.text_id, rating.question_id, 3)])
    path = tmp_path / "out.jsonl"
    assert "aggregates of others: 1." in export("small", "potato", path)
    assert "most" not in {line["user_id"] for line in objects(path)}


def test_a_rubric_that_is_called_as_spans_are_is_refused(tmp_path, small):
    Rubric.objects.filter(slug="graded").update(slug="nugget-spans")
    with pytest.raises(CommandError, match="a rubric is called nugget-spans"):
        export("small", "argilla", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_nothing_graded_is_nothing_to_write(tmp_path, small):
    without_ratings(small)
    export("small", "label-studio", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_the_number_of_queries_does_not_grow_with_the_pairs(small, django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        list(TOOLS["potato"](small))
