"""Whole numbers as data frames write them, and citations as models write them."""

import json

import pytest

from annotation.formats.records import GradeRow, NoteRow, QlabelsRow, QrelsRow, SpanRow
from annotation.models import Citation, Rating
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.models import RankedText
from tests.toolbox.foreign_files import read, refused, write
from tests.toolbox.regression_cases import case

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

STUDY = {
    "topics.jsonl": [{"id": "58", "request": "What of the mill?"}],
    "subquestions.jsonl": [{"id": "58", "subquestions": ["Who mended it?", "When?"]}],
    "passages.jsonl": [{"id": "d1", "contents": "Marsh mended it."}],
}
RATING = {"rater": "eve", "kind": "human", "rubric": "graded", "text": "d1", "topic": "58"}


def rated(**more: object) -> dict:
    return STUDY | {"ratings.jsonl": [RATING | {"question_index": 0, "grade": 4} | more]}


def test_ratings_of_a_data_frame_are_imported():
    study = case("whole-numbers-as-floats") / "study"
    import_dataset(study, "c11")
    assert list(Rating.objects.values_list("text__name", "grade")) == [("m1:0", 4)]


def test_whole_numbers_written_as_floats_are_read(tmp_path):
    spans = [{"start": 0.0, "end": 5.0, "quote": "Marsh"}]
    read(write(tmp_path, rated(grade=4.0, question_index=1.0, spans=spans)), "crux")
    assert list(Rating.objects.values_list("grade", "question__position")) == [(4, 1)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"grade": 3.5}, "grade: 3.5 is no grade of the rubric graded (0, 1, 2, 3, 4, 5)"),
        ({"grade": True}, "grade: Input should be a valid integer or null, not True"),
        ({"grade": "4"}, "grade: Input should be a valid integer or null, not '4'"),
        ({"grade": 1e300}, "grade: Input should be a valid integer or null, not 1e+300"),
        ({"question_index": 0.5}, "question_index: Input should be a valid integer, not 0.5"),
        ({"question_index": -1.0}, "question_index: Input should be greater than"),
        (
            {"spans": [{"start": 1.5, "end": 3, "quote": "a"}]},
            "spans.0.start: Input should be a valid integer, not 1.5",
        ),
        ({"grade": float("nan")}, "NaN is not JSON"),
    ],
)
def test_fraction_names_its_place_and_changes_nothing(tmp_path, more, message):
    (problem,) = refused(write(tmp_path, rated(**more)), "crux")
    assert problem.startswith("ratings.jsonl:1: ")
    assert message in problem


def test_rows_accept_whole_floats():
    labels = QlabelsRow.model_validate(
        {
            "id": "a",
            "question_based_nugget": {},
            "answerability": [1.0, -2.0],
            "offsets": {"0": [[1.0, 2.0]]},
        }
    )
    assert labels.answerability == [1, -2]
    assert labels.offsets == {"0": [[1, 2]]}
    assert QrelsRow(id="a", document="b", relevances={"0": 3.0}).relevances == {"0": 3}
    assert GradeRow(topic="a", text="b", grade=2.0).grade == 2
    assert SpanRow(start=1.0, end=2.0).end == 2
    note = {"topic": "a", "question_index": 1.0, "text": "b", "by": "c", "note": "d"}
    assert NoteRow(**note, at="2026-11-25T10:00:00+00:00").question_index == 1


def test_ranks_of_a_run_may_be_written_as_floats(tmp_path):
    run = {"runs/r.run": ["58 Q0 d1 1.0 9.5 r"]}
    import_dataset(write(tmp_path, STUDY | run), "other")
    assert RankedText.objects.get().rank == 1


def test_rank_that_is_no_whole_number_is_refused(tmp_path):
    run = {"runs/r.run": ["58 Q0 d1 1.5 9.5 r"]}
    (problem,) = refused(write(tmp_path, STUDY | run), "crux")
    assert problem.startswith("runs/r.run:1: rank: expected a number")


def cited() -> list[tuple]:
    ordered = Citation.objects.exclude(label="").order_by("report", "position")
    return list(ordered.values_list("label", "cited__name"))


def test_places_in_quotes_and_null_citations_are_read():
    summary = read(case("citations-as-strings"), "trec-rag")
    assert cited() == [("0", "d#1"), ("1", "d#2"), ("0", "d#1")]
    assert {str(reason): n for reason, n in summary.mapped.items()} == {
        "places written as words in citations: read as places in the references": 3
    }


def report(*citations: object, references: object = ("d1", "d2")) -> dict[str, list]:
    answer = [{"text": "Marsh mended it.", "citations": list(citations)}]
    row = {"run_id": "run1", "topic_id": "58", "references": references, "answer": answer}
    return {"topics.jsonl": [{"id": "58", "title": "The mill?"}], "answers.jsonl": [row]}


@pytest.mark.parametrize(
    ("citations", "references", "expected"),
    [
        ((0.0, 1), ["d1", "d2"], [("0", "d1"), ("1", "d2")]),
        (("0", 0, "d1"), ["d1", "d2"], [("0", "d1"), ("d1", "d1")]),
        (("2",), ["d1", "d2"], [("2", None)]),
        (("1",), ["7", "1"], [("1", "1")]),
        (("1",), [7, 1], [("1", "1")]),
        (("33",), ["7", "1"], [("33", "33")]),
        (("33", None), None, [("33", "33")]),
    ],
)
def test_citations_are_places_or_names(tmp_path, citations, references, expected):
    read(write(tmp_path, report(*citations, references=references)), "trec-rag")
    assert cited() == expected


@pytest.mark.parametrize("form", ["trec-rag", "ragtime"])
@pytest.mark.parametrize("citation", [True, 1.5, ["d1"]])
def test_citation_that_is_neither_place_nor_name_is_one_plain_error(tmp_path, form, citation):
    files = report(citation)
    if form == "ragtime":
        files["topics.jsonl"] = [{"request_id": "58", "problem_statement": "The mill?"}]
    (problem,) = refused(write(tmp_path, files), form)
    assert problem.startswith("answers.jsonl:1: answer.0.citations: must be a ")
    assert "[" not in problem.replace(json.dumps([citation]), "").split("not")[0]


def test_citations_in_one_string_are_refused(tmp_path):
    files = report()
    files["answers.jsonl"][0]["answer"][0]["citations"] = "0"
    with pytest.raises(DatasetImportError, match="must be a list of places or names, or nothing"):
        import_dataset(write(tmp_path, files), "other", form="trec-rag")
