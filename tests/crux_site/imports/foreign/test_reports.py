"""--format trec-rag and ragtime: topics, requests, reports with their citations, qrels."""

from pathlib import Path

import pytest

from annotation.models import Citation, Rating, SubQuestion, Text, Topic
from crux_site.imports.importing import import_dataset
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

DATA = Path(__file__).resolve().parents[5] / "shared" / "data"
TOPICS, ANSWERS = "topics.rag24.txt", "run1.jsonl"
ANSWER = {
    "run_id": "run1",
    "topic_id": "100",
    "topic": "Who mended the wheel?",
    "references": ["d#0", "d#1"],
    "response_length": 7,
    "answer": [
        {"text": "Ottilie Marsh did.", "citations": [1, 0, 1]},
        {"text": " It turned in May 🚢. ", "citations": ["d#7", 5]},
        {"text": "", "citations": [0]},
        {"text": "Nobody was hurt.", "citations": []},
    ],
}
RAG24 = {TOPICS: ["100\tWho mended the wheel?", "101\tWhat did it cost,\tthen?"], ANSWERS: [ANSWER]}
BODY = "Ottilie Marsh did. It turned in May 🚢. Nobody was hurt."


def citations():
    rows = Citation.objects.order_by("position")
    return [
        (report[start:end], label, cited)
        for report, start, end, label, cited in rows.values_list(
            "report__body", "start", "end", "label", "cited__name"
        )
    ]


def test_topics_and_answers_of_2024(tmp_path):
    summary = read(write(tmp_path, RAG24), "trec-rag")
    assert list(Topic.objects.values_list("name", "request")) == [
        ("100", "Who mended the wheel?"),
        ("101", "What did it cost,\tthen?"),
    ]
    report = Text.objects.get(kind=Text.Kind.REPORT)
    assert (report.system, report.name, report.topic.name, report.body) == (
        "run1", "100", "100", BODY,
    )  # fmt: skip
    # By their places in the references, from 0; by name; out of range: kept, of no text.
    assert citations() == [
        ("Ottilie Marsh did.", "1", "d#1"),
        ("Ottilie Marsh did.", "0", "d#0"),
        ("It turned in May 🚢.", "d#7", "d#7"),
        ("It turned in May 🚢.", "5", None),
    ]
    assert summary.created["citations"] == 4
    assert not SubQuestion.objects.exists()


def test_topics_and_answers_of_2025(tmp_path):
    answer = {
        "metadata": {"team_id": "t", "run_id": "run-2", "narrative_id": 100, "type": "automatic"},
        "references": ["d#0"],
        "answer": [{"text": "She did.", "citations": ["d#0"]}],
    }
    files = {"topics.jsonl": [{"id": "100", "title": "Who did it?"}], "out.jsonl": [answer]}
    read(write(tmp_path, files), "trec-rag")
    assert Topic.objects.get().request == "Who did it?"
    assert Text.objects.get(kind=Text.Kind.REPORT).system == "run-2"
    assert citations() == [("She did.", "d#0", "d#0")]


def test_references_that_are_objects_are_read_by_their_ids(tmp_path):
    references = [{"docid": "d#0", "segment": "It grinds."}, {"segment_id": 1, "docid": ""}, "d#2"]
    answer = {
        **ANSWER,
        "references": references,
        "answer": [{"text": "So.", "citations": [0, {"id": 1}, {"docid": "d#2"}]}],
    }
    read(write(tmp_path, {**RAG24, ANSWERS: [answer]}), "trec-rag")
    assert citations() == [("So.", "0", "d#0"), ("So.", "1", "1"), ("So.", "d#2", "d#2")]


@pytest.mark.parametrize("docid", ["1", 1])
def test_docid_of_digits_is_a_name_and_no_position(tmp_path, docid):
    answer = {**ANSWER, "answer": [{"text": "So.", "citations": [0, {"docid": docid}]}]}
    for _ in range(2):
        read(write(tmp_path, {**RAG24, ANSWERS: [answer]}), "trec-rag")
    assert citations() == [("So.", "0", "d#0"), ("So.", "1", "1")]
    assert Text.objects.get(name="1").body is None


@pytest.mark.parametrize("reference", [{"text": "It grinds."}, {"docid": ["d#0"]}, ["d#0"]])
def test_references_without_an_id_are_refused_by_place(tmp_path, reference):
    answer = {**ANSWER, "references": ["d#0", reference]}
    problems = refused(write(tmp_path, {ANSWERS: [answer]}), "trec-rag")
    assert len(problems) == 1
    assert problems[0].startswith("run1.jsonl:1: references.1: ")


def test_qrels_of_people_and_of_umbrela(tmp_path):
    files = {
        TOPICS: RAG24[TOPICS],
        "qrels.rag24.txt": ["100 0 d#0 3", "101 0 d#1 0"],
        "umbrela/model-a.v2.qrels": ["100 0 d#0 4"],
    }
    read(write(tmp_path, files), "trec-rag")
    ratings = Rating.objects.values_list("rater__name", "rater__kind", "rubric__slug", "grade")
    assert list(ratings.order_by("pk")) == [
        ("qrels", "human", "qrels-3", 3),
        ("qrels", "human", "qrels-3", 0),
        ("model-a-v2", "model", "umbrela", 4),
    ]
    # The same file again, by itself.
    assert not import_dataset(tmp_path / "umbrela", "other", form="trec-rag").changed


@pytest.mark.parametrize(
    ("name", "broken", "message"),
    [
        (ANSWERS, {**ANSWER, "run_id": None}, "run1.jsonl:1: run_id is missing"),
        (ANSWERS, {**ANSWER, "topic_id": "9"}, "run1.jsonl:1: topic_id: topic '9' is not"),
        (ANSWERS, {**ANSWER, "run_id": "run 1"}, "run1.jsonl:1: run_id: 'run 1' is no name"),
        (ANSWERS, {**ANSWER, "answer": [{"citations": []}]}, "run1.jsonl:1: answer.0.text: is miss"),
        (ANSWERS, {**ANSWER, "answer": "Words."}, "run1.jsonl:1: answer: Input should be a valid l"),
        (ANSWERS, {**ANSWER, "answer": [{"text": "x", "citations": [1.5]}]},
         "run1.jsonl:1: answer.0.citations"),
        (TOPICS, "100", f"{TOPICS}:1: expected 2 columns (id query), not 1"),
        (TOPICS, "1 0\tWho?", f"{TOPICS}:1: id: must have 1 to 250"),
    ],
)  # fmt: skip
def test_file_without_a_sound_line_is_refused_and_named(tmp_path, name, broken, message):
    folder = write(tmp_path, with_line(RAG24, name, 1, broken))
    assert any(problem.startswith(message) for problem in refused(folder, "trec-rag"))


def test_report_with_other_words(tmp_path):
    read(write(tmp_path, RAG24), "trec-rag")
    changed_answer = {**ANSWER, "answer": [{"text": "Nobody did.", "citations": []}]}
    messages = refused(write(tmp_path, {ANSWERS: [changed_answer]}), "trec-rag")
    assert messages[0].startswith("run1.jsonl:1: answer: 100 is in the dataset with other words")


REQUEST = {
    "request_id": "300",
    "collection_ids": ["news"],
    "background": "I mend mills.",
    "problem_statement": "Who mended the wheel?",
    "limit": 2000,
    "title": "Wheel",
}
RAGTIME = {
    "requests.jsonl": [REQUEST, {"request_id": "301", "title": "Cost"}],
    "system-a.jsonl": [
        {
            "metadata": {"team_id": "a", "run_id": "system-a", "topic_id": "300"},
            "responses": [
                {"text": "She did.", "citations": {"d-1": 0.9, "d-2": 0.1}},
                {"text": "In May."},
            ],
            "references": ["d-1", "d-2"],
            "documents": {"d-1": {"id": "d-1", "title": "Mill", "text": "Marsh mended it."}},
        }
    ],
}


def test_requests_and_reports_of_ragtime(tmp_path):
    summary = read(write(tmp_path, RAGTIME), "ragtime")
    assert list(Topic.objects.values_list("name", "request")) == [
        ("300", "I mend mills.\n\nWho mended the wheel?"),
        ("301", "Cost"),
    ]
    assert Text.objects.get(kind=Text.Kind.REPORT).body == "She did. In May."
    assert citations() == [("She did.", "d-1", "d-1"), ("She did.", "d-2", "d-2")]
    passages = Text.objects.filter(kind=Text.Kind.PASSAGE)
    assert dict(passages.values_list("name", "body")) == {
        "d-1": "Mill\nMarsh mended it.",
        "d-2": None,
    }
    assert {file.name: file.read for file in summary.files} == {
        "requests.jsonl": 2,
        "system-a.jsonl": 1,
    }


def test_request_that_asks_nothing(tmp_path):
    files = with_line(RAGTIME, "requests.jsonl", 2, {"request_id": "301"})
    message = left_out(write(tmp_path, files), "ragtime")[0]
    assert message.startswith("requests.jsonl:2: problem_statement is missing")


@pytest.mark.skipif(not DATA.exists(), reason="the data of the neighbours are not here")
@pytest.mark.parametrize(
    ("folder", "form", "expected"),
    [
        ("neighbours/trec_rag25", "trec-rag", {"topics": 11, "ratings": 18_365, "raters": 4}),
        ("neighbours/trec_generation_format", "ragtime",
         {"topics": 5, "reports": 5, "passages": 17, "citations": 20}),
        ("crux-duc04/later_formats", "ragtime", {"topics": 5, "sub-questions": 7}),
        ("neighbours/neuclir24/requests.jsonl", "ragtime", {"topics": 10}),
    ],
)  # fmt: skip
def test_real_files(folder, form, expected):
    created = import_dataset(DATA / folder, "real", form=form).created
    assert {name: created[name] for name in expected} == expected


def test_reports_of_neuclir_are_read_by_their_request(tmp_path):
    report = {
        "request_id": "300",
        "run_id": "run1",
        "collection_ids": ["neuclir/1/zho"],
        "sentences": [
            {"text": "Ottilie Marsh did.", "citations": ["d#0", "d#1"]},
            {"text": "It turned in May.", "citations": []},
        ],
    }
    request = {"request_id": "300", "problem_statement": "Who mended the wheel?"}
    read(write(tmp_path, {"requests.jsonl": [request], "run1": [report]}), "ragtime")
    assert Topic.objects.get().request == "Who mended the wheel?"
    text = Text.objects.get(kind=Text.Kind.REPORT)
    assert (text.system, text.body) == ("run1", "Ottilie Marsh did. It turned in May.")
    assert [(cited, label) for cited, label, _ in citations()] == [
        ("Ottilie Marsh did.", "d#0"),
        ("Ottilie Marsh did.", "d#1"),
    ]


@pytest.mark.parametrize("name", ["requests.jsonl", "requests.json"])
@pytest.mark.parametrize(
    "more", [{"sentences": ["a", "b"]}, {"answer": "Marsh", "metadata": {"run_id": "r"}}]
)
def test_request_with_keys_of_reports_is_a_request(tmp_path, name, more):
    request = {"request_id": "300", "problem_statement": "Who mended the wheel?", **more}
    read(write(tmp_path, {name: [request]}), "ragtime")
    assert Topic.objects.get().request == "Who mended the wheel?"
    assert not Text.objects.exists()


@pytest.mark.parametrize("value", [{"answer": 42}, {"responses": [], "run_id": "a"}])
def test_other_json_is_no_report(tmp_path, value):
    topics = {"topics.jsonl": [{"id": "1", "title": "Why?"}]}
    summary = read(write(tmp_path, topics | {"config.json": [value]}), "trec-rag")
    assert [skipped.name for skipped in summary.left_out] == ["config.json"]
