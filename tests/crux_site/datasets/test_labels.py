"""qlabels.jsonl and qrels.jsonl of one rater, in the authors' format."""

import json

import pytest

from annotation.formats import qlabels, qrels
from annotation.formats.writing import ExportError
from annotation.models import Dataset, NuggetSpan, Rater, SubQuestion
from crux_site.imports.importing import import_dataset
from tests.toolbox.import_study import WRITTEN, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Dataset:
    import_dataset(write(tmp_path), "small")
    return Dataset.objects.get(slug="small")


def rows(format_, dataset: Dataset, rater: str) -> list[dict]:
    lines = format_.lines(dataset, Rater.objects.get(name=rater))
    return [json.loads(line) for line in lines]


def test_t1(small):
    by_id = {row["id"]: row for row in rows(qlabels, small, "ann")}
    assert list(by_id) == ["bm25_t-1", "t-1", "t-2"]  # by system, then by topic
    first, second, _ = WRITTEN["t-1"]
    assert by_id["t-1"] == {
        "id": "t-1",
        "question_based_nugget": {first: "A coupling failed", second: "Nobody was hurt.", "NA": ""},
        "answerability": [1, 1, -2],
        "coverage": 1.0,  # 2 of the 2 that are asked
    }
    # Unjudged questions are -1; they count as not answered, as the authors count them.
    assert by_id["t-2"]["answerability"] == [1, 1, -1]
    assert by_id["t-2"]["coverage"] == 2 / 3
    # The words of the file, though they are not in the text.
    assert by_id["t-2"]["question_based_nugget"]["\n What was found?"] == "a dam that broke"


def test_grade_of_a_filtered_question_is_told_and_does_not_count(small):
    row = rows(qlabels, small, "ann")[0]
    assert row["answerability"] == [0, 1, 0]
    assert list(row["question_based_nugget"]) == WRITTEN["t-1"]
    assert row["coverage"] == 1 / 2


def test_coverage_is_absent_if_all_questions_are_filtered(small):
    SubQuestion.objects.filter(topic__name="t-1").update(filtered_because="why not")
    assert rows(qlabels, small, "ann")[1]["coverage"] is None


def test_several_spans_are_one_string(small):
    nuggets = rows(qlabels, small, "bob")[0]["question_based_nugget"]
    assert nuggets[WRITTEN["t-1"][0]] == "coupling failed [...] coupling was old"


def test_offsets_are_told_only_where_the_words_would_mislead(small):
    assert all("offsets" not in row for row in rows(qlabels, small, "bob"))
    span = NuggetSpan.objects.get(quote="coupling failed")
    NuggetSpan.objects.filter(quote="coupling was old").delete()
    second = span.rating.text.body.rindex("coupling")
    NuggetSpan.objects.filter(pk=span.pk).update(
        start=second, end=second + 8, quote="coupling", source_quote=""
    )
    assert rows(qlabels, small, "bob")[0]["offsets"] == {"0": [[second, second + 8]]}


def test_t2(small):
    first, second = rows(qrels, small, "ann")
    assert first == {
        "id": "t-1",
        "document": "t-1:0#0",
        "relevances": {"0": 3, "1": 5, "2": -1},
        "rationales": {"0": "", "1": "Nobody was hurt.", "2": ""},
    }
    assert second["relevances"] == {"0": -1, "1": -1, "2": 4}
    assert second["rationales"] == {"0": "", "1": "", "2": "not there"}


def test_rater_without_such_labels_has_no_line(small):
    assert rows(qrels, small, "bob") == []
    assert rows(qlabels, small, "judge") == []


def test_letters_stay_letters(small):
    line = "".join(qlabels.lines(small, Rater.objects.get(name="bob")))
    assert "🚢" in line


def test_duplicate_questions_cannot_be_keys(small):
    SubQuestion.objects.filter(topic__name="t-1").update(body="The same?")
    with pytest.raises(ExportError, match="two questions of t-1"):
        rows(qlabels, small, "ann")
