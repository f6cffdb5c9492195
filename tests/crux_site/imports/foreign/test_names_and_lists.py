"""Collections whose JSON is no file of lines, or has a name that says nothing."""

import json

import pytest

from annotation.models import Rating, SubQuestion, Text, Topic
from tests.toolbox.foreign_files import read, refused, write

pytestmark = pytest.mark.django_db

ANSWERS = [
    {
        "run_id": "run1",
        "topic_id": topic,
        "references": ["d#0"],
        "answer": [{"text": text, "citations": [0]}],
    }
    for topic, text in (("100", "Ottilie Marsh did."), ("101", "It cost nothing."))
]
TOPICS = {"topics.tsv": ["100\tWho mended the wheel?", "101\tWhat did it cost?"]}
SHAPES = {
    "lines": lambda rows: "\n".join(map(json.dumps, rows)),
    "list": json.dumps,
    "list over lines": lambda rows: json.dumps(rows, indent=2),
    "objects over lines": lambda rows: "\n".join(json.dumps(row, indent=1) for row in rows),
    "list below a comment": lambda rows: f"# run1\n\n{json.dumps(rows)}",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["run1.jsonl", "run1.json", "run1", "input.run1"])
@pytest.mark.parametrize("form", ["trec-rag", "ragtime"])
def test_reports_are_read_from_any_json(tmp_path, shape, name, form):
    requests = [
        {"request_id": topic, "problem_statement": "What of the mill?"} for topic in ("100", "101")
    ]
    topics = TOPICS if form == "trec-rag" else {"requests.jsonl": requests}
    read(write(tmp_path, {**topics, name: [SHAPES[shape](ANSWERS)]}), form)
    reports = Text.objects.filter(kind=Text.Kind.REPORT).order_by("topic__name")
    assert [text.body for text in reports] == ["Ottilie Marsh did.", "It cost nothing."]


@pytest.mark.parametrize("shape", SHAPES)
def test_nuggets_are_read_from_any_json(tmp_path, shape):
    nuggets = [{"text": "Marsh did", "importance": "vital"}]
    rows = [{"query": "Who?", "qid": "1", "nuggets": nuggets}]
    read(write(tmp_path, {"model-a.json": [SHAPES[shape](rows)]}), "nuggets")
    assert SubQuestion.objects.get().body == "Marsh did"
    assert Rating.objects.get().rater.name == "model-a"


def test_broken_item_of_a_list_is_named_by_its_line(tmp_path):
    text = json.dumps(ANSWERS, indent=1)
    files = {**TOPICS, "run1.json": [text.removesuffix("]"), "  {,}]"]}
    (message,) = refused(write(tmp_path, files), "trec-rag")
    assert message.startswith(f"run1.json:{text.count(chr(10)) + 2}: broken JSON")


def test_item_that_is_unsound_is_left_out_with_its_line(tmp_path):
    rows = json.dumps([*ANSWERS, {"run_id": "run1", "topic_id": "101"}], indent=1)
    summary = read(write(tmp_path, {**TOPICS, "run1.json": [rows]}), "trec-rag")
    (row,) = summary.left_out_rows
    assert rows.splitlines()[row.line - 1].strip() == "{"
    assert "answer is missing" in row.reason


@pytest.mark.parametrize("qrels", ["qrels/test.qrels", "qrels/test.tsv"])
@pytest.mark.parametrize("corpus", ["corpus.jsonl", "docs.jsonl"])
def test_exports_of_ir_datasets_are_read_as_beir(tmp_path, qrels, corpus):
    files = {
        corpus: [{"doc_id": "d1", "title": "The mill", "text": "It grinds."}],
        "queries.jsonl": [{"query_id": "q1", "text": "Who mended the wheel?"}],
        qrels: ["q1 0 d1 1"],
    }
    read(write(tmp_path, files), "beir")
    assert Topic.objects.get().request == "Who mended the wheel?"
    assert Text.objects.get().body == "The mill\nIt grinds."
    assert Rating.objects.get().grade == 1
