"""Files of annotation tools: what is written, and that it comes back as it was."""

import json

import pytest
from django.core.management import CommandError

from annotation.formats.gradings import TOOLS
from annotation.models import Dataset, Rater, Rating, Rubric, RubricLevel
from crux_site.imports.importing import import_dataset
from tests.crux_site.datasets.tool_shapes import SHAPES
from tests.toolbox.import_study import fingerprint
from tests.toolbox.tool_exports import (
    BODY,
    PASSAGE,
    export,
    make_small,
    objects,
    table,
    without_ratings,
)

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ENDING = {"label-studio": "json", "argilla": "json", "potato": "jsonl", "web-annotation": "json"}


@pytest.fixture
def small(tmp_path) -> Dataset:
    return make_small(tmp_path / "small")


def test_study_has_what_is_hard_about_spans(small):
    rows = [row for row in table(small) if row["text"] == PASSAGE]
    located = [marked["located"] for row in rows for marked in row["spans"]]
    assert {kind: located.count(kind) for kind in set(located)} == {
        "exact": 9,
        "normalised": 1,
        "unlocated": 2,
    }


@pytest.mark.parametrize("form", TOOLS)
def test_tool_export_round_trip(tmp_path, small, form):
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
    second_export = tmp_path / f"again.{ENDING[form]}"
    export("small", form, second_export)
    assert second_export.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("form", TOOLS)
def test_files_have_the_shapes_that_the_tools_document(tmp_path, small, form):
    path = tmp_path / f"out.{ENDING[form]}"
    export("small", form, path)
    assert [SHAPES[form].model_validate(record) for record in objects(path)]


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
    """Records of a file about the first question and the passage."""
    path = tmp_path / f"out.{ENDING[form]}"
    export("small", form, path)
    name = "t-1/0/passage//t-1:9%239"
    keys = ("id", "instance_id", "crux:pair")
    return [
        record
        for record in objects(path)
        if name in [*(record.get(key) for key in keys), record.get("data", {}).get("pair")]
    ]


def test_places_are_counted_as_each_tool_counts(tmp_path, small):
    """Offsets in code points and in UTF-16.

    The second ship is the 9th code point (from 0: ship, blank, C a f e accent blank) and, since the first
    ship takes two units of UTF-16, the 9th to 11th unit.
    """
    assert BODY[8] == "🚢"
    (task,) = about_the_pair(small, tmp_path, "label-studio")
    ann = task["annotations"][0]
    # Without an account: Label Studio has none that is called so, and would refuse the file.
    assert task["meta"]["raters"][str(ann["id"])] == "ann"
    assert [entry["type"] for entry in ann["result"]] == ["choices", "labels", "labels", "choices"]
    assert ann["result"][1]["value"] == {"start": 8, "end": 9, "text": "🚢", "labels": ["graded"]}
    assert [entry["model_version"] for entry in task["predictions"]] == ["m-1", "m-2", "rule"]
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
    position, quote = first["target"][0]["selector"]
    assert position == {"type": "TextPositionSelector", "start": 8, "end": 9}
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
    aggregate = Rater.objects.create(dataset=small, name="most", kind=Rater.Kind.AGGREGATE)
    Rating.objects.add(aggregate.pk, rating.rubric_id, [(rating.text_id, rating.question_id, 3)])
    path = tmp_path / "out.jsonl"
    assert "aggregates of others: 1." in export("small", "potato", path)
    assert "most" not in {line["user_id"] for line in objects(path)}


def test_rubric_that_is_called_as_spans_are_is_refused(tmp_path, small):
    Rubric.objects.filter(slug="graded").update(slug="nugget-spans")
    with pytest.raises(CommandError, match="a rubric is called nugget-spans"):
        export("small", "argilla", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_export_without_grades_writes_nothing(tmp_path, small):
    without_ratings(small)
    export("small", "label-studio", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_number_of_queries_does_not_grow_with_the_pairs(small, django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        list(TOOLS["potato"](small))
