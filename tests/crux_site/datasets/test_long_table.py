"""The long table: one row for each rating, as CSV and as JSONL."""

import csv
import io
import json
from datetime import UTC

import pytest

from annotation.formats import long_table
from annotation.models import Dataset, Rating, SubQuestion, Text
from crux_site.imports.importing import import_dataset
from judging.engine.foreground import fill_lexical
from tests.toolbox.import_study import empty_database, study, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Dataset:
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


def of_jsonl(dataset: Dataset) -> list[dict]:
    return [json.loads(line) for line in long_table.jsonl_lines(dataset)]


def without_times(dataset: Dataset) -> list[dict]:
    """The rows but for when they were stored, which another import cannot repeat."""
    return [{**row, "created": None} for row in of_jsonl(dataset)]


def test_row_for_each_rating(small):
    rows = of_jsonl(small)
    assert len(rows) == Rating.objects.count()
    assert {tuple(row) for row in rows} == {long_table.COLUMNS}


def test_row_says_everything(small):
    body = Text.objects.get(name="t-1", system="annotated.oracle")
    (row,) = [
        row
        for row in of_jsonl(small)
        if (row["rater"], row["text"], row["question_index"]) == ("ann", "t-1", 1)
    ]
    start = body.body.index("Nobody")
    rating = Rating.objects.get(rater__name="ann", text=body, question__position=1)
    assert row == {
        "dataset": "small",
        "rater": "ann",
        "rater_kind": "human",
        "judge_version": "",
        "rubric": "answerable",
        "topic": "t-1",
        "question_index": 1,
        "question": "Was anybody hurt?",
        "filtered": "",
        "text_kind": "report",
        "system": "annotated.oracle",
        "text": "t-1",
        "text_sha256": body.sha256,
        "copied_from": "",
        "copied_from_system": "",
        "exposure": "unknown",
        "grade": 1,
        "created": rating.created.astimezone(UTC).isoformat(timespec="seconds"),
        "spans": [
            {
                "start": start,
                "end": start + len("Nobody  was\nhurt."),
                "quote": "Nobody  was\nhurt.",
                "located": "normalised",
                "source_quote": "Nobody was hurt.",
            }
        ],
    }


def test_judge_of_this_site_has_its_version_and_a_judge_of_a_file_none(small):
    run = fill_lexical(small)
    versions = {(row["rater"], row["judge_version"]) for row in of_jsonl(small)}
    assert (run.judge.slug, run.judge.fingerprint) in versions
    assert {version for name, version in versions if name != run.judge.slug} == {""}


def test_filtered_says_why(small):
    because = {row["filtered"] for row in of_jsonl(small)}
    filtered = SubQuestion.objects.exclude(filtered_because="").filter(ratings__isnull=False)
    assert because == {"", *filtered.values_list("filtered_because", flat=True)}
    assert len(because) > 1


def test_text_without_words_has_no_hash(small):
    assert {row["text_sha256"] for row in of_jsonl(small) if row["text"] == "other-7:0#3"} == {""}


def test_csv_holds_the_same(small):
    text = "".join(long_table.csv_lines(small))
    assert text.startswith(",".join(long_table.COLUMNS) + "\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    expected = of_jsonl(small)
    assert [{**row, "spans": json.loads(row["spans"])} for row in rows] == [
        {key: value if key == "spans" else str(value) for key, value in row.items()}
        for row in expected
    ]


def test_formulas_are_escaped_in_csv_and_verbatim_in_jsonl(small):
    question = SubQuestion.objects.get(body="Was anybody hurt?")
    question.body = '=HYPERLINK("http://elsewhere.example")'
    question.save()
    Text.objects.filter(name="t-1", system="annotated.oracle").update(system="@SUM(1)")
    rows = list(csv.DictReader(io.StringIO("".join(long_table.csv_lines(small)), newline="")))
    cells = {cell for row in rows for cell in row.values()}
    assert {"'" + question.body, "'@SUM(1)"} <= cells
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "-"))]
    assert question.body in {row["question"] for row in of_jsonl(small)}


def test_order_is_that_of_names_and_not_of_keys(tmp_path, small):
    before = without_times(small)
    empty_database()
    files = {
        name: rows if name == "topics.jsonl" or name.endswith(".run") else rows[::-1]
        for name, rows in study().items()
    }
    import_dataset(write(tmp_path / "again", files), "small")
    assert without_times(Dataset.objects.get(slug="small")) == before


def test_number_of_queries_does_not_grow_with_the_rows(small, django_assert_max_num_queries):
    with django_assert_max_num_queries(
        3 * 2 + 5
    ):  # two a rater, those that find the raters, the judges
        list(long_table.jsonl_lines(small))
