"""JSON lines of UMBRELA, whatever the file is called."""

import pytest

from annotation.models import Rating
from tests.toolbox.foreign_files import left_out, read, write


def judgement(**more: object) -> dict:
    line = {"model": "m-1", "query": "What turns?", "passage": "A wheel.", "prediction": "2"}
    return line | {"judgment": 2.0, "result_status": 1} | more


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["trec-rag", "beir", "msmarco"])
def test_judgements_are_grades_of_a_model(tmp_path, form):
    lines = [
        judgement(qid=7, docid="d1"),
        judgement(query_id="7", docid="d2", judgment=0, result_status=0),
        judgement(),
        judgement(passage="A mill.", judgment=0),
    ]
    summary = read(write(tmp_path, {"gpt-4o.jsonl": lines}), form)
    fields = ("rater__name", "rater__kind", "rubric__slug", "grade")
    assert sorted(Rating.objects.values_list(*fields)) == [
        ("gpt-4o", "model", "umbrela", 0),
        ("gpt-4o", "model", "umbrela", 2),
        ("gpt-4o", "model", "umbrela", 2),
    ]
    assert Rating.objects.filter(text__name="d1", question__topic__name="7").exists()
    assert list(summary.mapped.values()) == [1]


@pytest.mark.django_db
def test_judgement_that_is_no_grade_is_left_out(tmp_path):
    path = write(tmp_path, {"m.jsonl": [judgement(), judgement(judgment=1.5)]})
    [row] = left_out(path, "trec-rag")
    assert row.startswith("m.jsonl:2: judgment: ")
    assert Rating.objects.count() == 1
