"""Import and export of documents.jsonl and references.jsonl."""

import json

import pytest

from annotation.formats import documents
from annotation.models import Document, Text, Topic, digest
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.text_strategies import NASTY

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
DOCUMENTS = [
    {"id": "t-1:0", "contents": "The ferry lost its steering. 🚢"},
    {"id": "t-1:1", "contents": "Nobody was hurt."},
    {"id": "t-2:0", "contents": "Divers found a crack."},
]


def imported(tmp_path, **files):
    """Import a folder of these files, each a list of rows or of lines."""
    for path in tmp_path.iterdir():
        path.unlink()
    for name, rows in files.items():
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return import_dataset(tmp_path, "built")


def test_documents_create_topics_and_reimport_unchanged(tmp_path):
    summary = imported(tmp_path, documents=DOCUMENTS)
    assert (summary.created["documents"], summary.created["topics"]) == (3, 2)
    rows = Document.objects.values_list("name", "topic__name", "body", "sha256")
    assert list(rows) == [
        (row["id"], row["id"].partition(":")[0], row["contents"], digest(row["contents"]))
        for row in DOCUMENTS
    ]
    topics = Topic.objects.order_by("position")
    assert list(topics.values_list("name", "request")) == [("t-1", ""), ("t-2", "")]
    second_summary = imported(tmp_path, documents=[*DOCUMENTS, DOCUMENTS[0]])
    assert not second_summary.changed
    assert Document.objects.count() == 3


def test_documents_come_to_topics_that_are_there(tmp_path):
    summary = imported(
        tmp_path, documents=DOCUMENTS, topics=[{"id": "t-2", "request": "What was found?"}]
    )
    assert summary.created["topics"] == 2
    assert Topic.objects.get(name="t-2").request == "What was found?"


def test_requests_may_come_after_documents_and_then_stay(tmp_path):
    imported(tmp_path, documents=DOCUMENTS)
    rows = [{"id": "t-2", "request": "What was found?"}, {"id": "t-1", "request": ""}]
    summary = imported(tmp_path, topics=rows)
    assert summary.changed
    assert dict(Topic.objects.values_list("name", "request")) == {
        "t-1": "",
        "t-2": "What was found?",
    }
    assert not imported(tmp_path, topics=rows).changed
    with pytest.raises(DatasetImportError, match="there already with the request"):
        imported(tmp_path, topics=[{"id": "t-2", "request": "What else?"}])


def test_topic_with_two_requests_is_refused(tmp_path):
    imported(tmp_path, documents=DOCUMENTS)
    rows = [{"id": "t-1", "request": request} for request in ("One?", "Two?")]
    with pytest.raises(DatasetImportError) as failure:
        imported(tmp_path, topics=rows)
    assert failure.value.problems[0].line == 2
    assert Topic.objects.get(name="t-1").request == ""


def test_document_without_a_colon_is_a_topic_of_its_own(tmp_path):
    imported(tmp_path, documents=[{"id": "solo", "contents": "x"}])
    assert Document.objects.get().topic.name == "solo"


def test_reference_is_a_text_of_its_topic(tmp_path):
    rows = [{"id": "t-1", "contents": "A summary."}]
    summary = imported(tmp_path, references=rows)
    text = Text.objects.get()
    assert (text.kind, text.name, text.topic.name) == ("reference", "t-1:report", "t-1")
    assert summary.created["reference summaries"] == 1
    assert not imported(tmp_path, references=rows).changed


@pytest.mark.parametrize("file", ["documents", "references"])
def test_stored_document_with_another_body_is_refused(tmp_path, file):
    first, second = ({"id": "t-1", "contents": contents} for contents in ("One.", "Two."))
    with pytest.raises(DatasetImportError) as failure:
        imported(tmp_path, **{file: [first, second]})
    (problem,) = failure.value.problems
    assert (problem.file, problem.line, problem.field) == (f"{file}.jsonl", 2, "contents")
    assert "other words" in problem.message
    imported(tmp_path, **{file: [first]})
    with pytest.raises(DatasetImportError):
        imported(tmp_path, **{file: [second]})
    assert not Text.objects.filter(body="Two.").exists()
    assert not Document.objects.filter(body="Two.").exists()


@pytest.mark.parametrize("file", ["documents", "references"])
@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"id": "t-1:0"}', "contents", "is missing"),
        ('{"contents": "x"}', "id", "is missing"),
        ('{"id": "t-1:0", "contents": ""}', "contents", "is empty"),
        ('{"id": "t-1:0", "contents": null}', "contents", "valid string"),
        ('{"id": "t-1:0", "contents": "a\\u0000b"}', "contents", "NUL"),
        ('{"id": "t-1:0", "contents": "a\\ud800b"}', "contents", "surrogate"),
        ('{"id": "t 1", "contents": "x"}', "id", "no white space"),
        ('{"id": "", "contents": "x"}', "id", "1 to 250 characters"),
        (json.dumps({"id": "x" * 251, "contents": "x"}), "id", "250 characters"),
        (json.dumps({"id": "x" * 201, "contents": "x"}), "id", "200 characters"),
        (json.dumps({"id": "x" * 201 + ":0", "contents": "x"}), "id", "200 characters"),
        ('{"id": "t-1:0", ', "", "broken JSON"),
        ("[]", "", "expected a JSON object"),
    ],
)
def test_invalid_line_is_named_and_import_rolled_back(tmp_path, file, line, field, message):
    with pytest.raises(DatasetImportError) as failure:
        imported(tmp_path, **{file: [DOCUMENTS[0], line]})
    problem = failure.value.problems[0]
    assert (problem.file, problem.line, problem.field) == (f"{file}.jsonl", 2, field)
    assert message in problem.message
    assert not Document.objects.exists()
    assert not Topic.objects.exists()


def test_document_of_no_topic_is_refused(tmp_path):
    with pytest.raises(DatasetImportError) as failure:
        imported(tmp_path, documents=[DOCUMENTS[0], {"id": ":0", "contents": "x"}])
    problem = failure.value.problems[0]
    assert (problem.line, problem.field) == (2, "id")
    assert "1 to 200 characters" in problem.message
    assert not Document.objects.exists()


@pytest.mark.parametrize("body", NASTY)
def test_exported_documents_import_unchanged(tmp_path, body):
    imported(tmp_path, documents=[{"id": "z:10", "contents": body}, *DOCUMENTS])
    dataset = Document.objects.first().dataset
    lines = list(documents.lines(dataset))
    # By code point: "t-1:0" before "z:10".
    assert [json.loads(line)["id"] for line in lines] == ["t-1:0", "t-1:1", "t-2:0", "z:10"]
    assert json.loads(lines[-1])["contents"] == body
    assert not imported(tmp_path, documents=[line.rstrip("\n") for line in lines]).changed


def test_documents_of_several_batches_are_imported(tmp_path):
    rows = [{"id": f"t-{n % 7}:{n}", "contents": f"Document {n}."} for n in range(450)]
    assert imported(tmp_path, documents=rows).created["documents"] == 450
    assert not imported(tmp_path, documents=rows).changed


PASSAGES = [
    {"id": "t-1:0#0", "contents": "The ferry lost its steering."},
    {"id": "t-1:00#0", "contents": "Of no document."},
    {"id": "#0", "contents": "Of none either."},
    {"id": "t-2:0#1#2", "contents": "Divers."},
]


@pytest.mark.parametrize("order", [("documents", "passages"), ("passages", "documents")])
def test_passages_know_their_documents_by_name_whichever_comes_first(tmp_path, order):
    files = {"documents": DOCUMENTS, "passages": PASSAGES}
    for name in order:
        imported(tmp_path, **{name: files[name]})
    linked = Text.objects.filter(document__isnull=False).order_by("name")
    assert list(linked.values_list("name", "document__name")) == [
        ("t-1:0#0", "t-1:0"),
        ("t-2:0#1#2", "t-2:0"),
    ]
    before = list(Text.objects.order_by("pk").values())
    assert not imported(tmp_path, **files).changed
    assert list(Text.objects.order_by("pk").values()) == before
