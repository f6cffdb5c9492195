"""Nuggets in: --format nuggets, and beside the other files of trec-rag and ragtime."""

import json

import pytest

from annotation.models import NuggetSpan, Rating, SubQuestion, Text, Topic
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write
from tests.toolbox.regression_cases import case

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

TOPICS = "topics.rag25.tsv"
WHEEL = {
    "text": "Ottilie Marsh mended the wheel",
    "importance": "vital",
    "mapped_sub_narrative": '"Who mended it?"',
    "source": "original",
}
MAY = {"text": "it turned in May", "importance": "okay", "mapped_sub_narrative": "New: when"}
COST = {"text": "it cost 40 pounds，all told", "importance": "failed", "mapped_sub_narrative": ""}
BANK = {"qid": "58", "nuggets": [WHEEL, MAY, COST]}
ASSIGNED = {
    "query": "What of the mill?",
    "qid": "58",
    "run_id": "run-a",
    "answer_text": "Marsh mended it.",
    "response_length": 3,
    "nuggets": [
        {**WHEEL, "assignment": "support"},
        {**MAY, "assignment": "not_support"},
        {**COST, "assignment": "partial_support"},
    ],
}
RAG25 = {
    TOPICS: ["58\tWhat of the mill?"],
    "nuggets.jsonl": [BANK],
    "assign/model-a.v1.jsonl": [ASSIGNED],
}


def ratings(rubric: str) -> list[tuple]:
    rows = Rating.objects.filter(rubric__slug=rubric).order_by("rater__name", "pk")
    return list(
        rows.values_list(
            "rater__name", "rater__kind", "text__name", "text__system", "question__body", "grade"
        )
    )


def questions() -> list[tuple]:
    return list(SubQuestion.objects.order_by("topic", "position").values_list("body", "group"))


def test_nuggets_weights_and_assignments_of_trec_rag(tmp_path):
    summary = read(write(tmp_path, RAG25), "trec-rag")
    assert questions() == [
        (WHEEL["text"], '"Who mended it?"'),
        (MAY["text"], "New: when"),
        (COST["text"], ""),
    ]
    # Of the track's own file by its assessors; of a nuggetizer's by whom the file is called after.
    assert ratings("importance") == [
        ("assessor", "human", "58:request", "", WHEEL["text"], 2),
        ("assessor", "human", "58:request", "", MAY["text"], 1),
        ("model-a-v1", "model", "58:request", "", WHEEL["text"], 2),
        ("model-a-v1", "model", "58:request", "", MAY["text"], 1),
    ]
    assert ratings("nugget-support") == [
        ("model-a-v1", "model", "58", "run-a", WHEEL["text"], 2),
        ("model-a-v1", "model", "58", "run-a", MAY["text"], 0),
        ("model-a-v1", "model", "58", "run-a", COST["text"], 1),
    ]
    report = Text.objects.get(kind=Text.Kind.REPORT)
    assert (report.body, report.topic.name) == ("Marsh mended it.", "58")
    # "failed" is no rating, and is counted.
    assert summary.mapped["null ratings of a judge: no row"] == 2
    # The text that the weights are of has no words: it is searched by nothing.
    assert Text.objects.get(name="58:request").body is None


def test_importance_and_assignment_are_read_in_any_case(tmp_path):
    nuggets = [
        {**WHEEL, "importance": "Vital", "assignment": "Support"},
        {**MAY, "importance": " OKAY ", "assignment": "Partial support"},
        {**COST, "importance": "Failed", "assignment": "NOT_SUPPORT"},
    ]
    read(write(tmp_path, {"model-a.jsonl": [{**ASSIGNED, "nuggets": nuggets}]}), "nuggets")
    assert [row[5] for row in ratings("importance")] == [2, 1]
    assert [row[5] for row in ratings("nugget-support")] == [2, 1, 0]
    important = {**WHEEL, "importance": "important"}
    folder = write(tmp_path / "other", {"model-a.jsonl": [{**ASSIGNED, "nuggets": [important]}]})
    assert "nuggets.0.importance" in refused(folder, "nuggets")[0]


def test_nuggetizer_output_alone_is_read(tmp_path):
    created = {key: ASSIGNED[key] for key in ("query", "qid", "nuggets")}
    summary = read(write(tmp_path, {"human-1.jsonl": [created]}), "nuggets")
    assert summary.mapped["assignments of no run: no row"] == 3
    assert Topic.objects.get().request == "What of the mill?"
    assert {row[:2] for row in ratings("importance")} == {("human-1", "human")}
    assert not Text.objects.filter(kind=Text.Kind.REPORT).exists()


def test_partial_assignment_is_read(tmp_path):
    """The first line does not tell what the others have."""
    created = {key: ASSIGNED[key] for key in ("query", "qid", "nuggets")} | {"nuggets": [WHEEL]}
    read(write(tmp_path, {"model-a.jsonl": [created, {**ASSIGNED, "qid": "59"}]}), "nuggets")
    assert [row[2:4] + row[5:] for row in ratings("nugget-support")] == [
        ("59", "run-a", 2),
        ("59", "run-a", 0),
        ("59", "run-a", 1),
    ]
    assert Text.objects.get(kind=Text.Kind.REPORT).body == "Marsh mended it."


def test_empty_answer_is_a_report(tmp_path):
    empty = {**ASSIGNED, "answer_text": "", "nuggets": [{**WHEEL, "assignment": "not_support"}]}
    read(write(tmp_path, {"model-a.jsonl": [empty]}), "nuggets")
    assert Text.objects.get(kind=Text.Kind.REPORT).body == ""
    assert [row[3:] for row in ratings("nugget-support")] == [("run-a", WHEEL["text"], 0)]


def test_topic_that_only_nuggets_name_has_no_request_yet(tmp_path):
    files = {**RAG25, "a.jsonl": [{"qid": "7", "nuggets": [MAY]}]}
    read(write(tmp_path, files), "trec-rag")
    # The order is that of the file of topics, whatever the files are called.
    assert list(Topic.objects.values_list("name", "request")) == [
        ("58", "What of the mill?"),
        ("7", ""),
    ]
    read(write(tmp_path, {TOPICS: ["7\tAnd May?", "58\tWhat of the mill?"]}), "trec-rag")
    assert Topic.objects.get(name="7").request == "And May?"


def test_nuggets_and_grades_of_the_whole_request_in_one_folder(tmp_path):
    files = {**RAG25, "umbrela/model-b.qrels": ["58 0 d#0 3"]}
    read(write(tmp_path, files), "trec-rag")
    assert ratings("umbrela") == [("model-b", "model", "d#0", "", "What of the mill?", 3)]
    assert SubQuestion.objects.get(position=3).filtered_because == SubQuestion.WHOLE


def gold() -> list[tuple]:
    spans = NuggetSpan.objects.order_by("rating", "position")
    return list(
        spans.values_list("rating__question__body", "rating__text__name", "source_quote", "located")
    )


def test_questions_with_answers_of_neuclir(tmp_path):
    """Any answer of a list will do; a duplicate question is merged, with the answers of both."""
    pairs = [
        ["Who mended it?", ["Marsh", "Ottilie"]],
        ["When?", "May"],
        ["Who mended it?", ["Ott"]],
    ]
    files = {
        "requests.jsonl": [{"request_id": "300", "problem_statement": "What of the mill?"}],
        "nuggets.jsonl": [{"id": 300, "nuggets": pairs}],
    }
    read(write(tmp_path, files), "ragtime")
    assert questions() == [("Who mended it?", ""), ("When?", "")]
    assert gold() == [
        ("Who mended it?", "300:request", "Marsh", "unlocated"),
        ("Who mended it?", "300:request", "Ottilie", "unlocated"),
        ("Who mended it?", "300:request", "Ott", "unlocated"),
        ("When?", "300:request", "May", "unlocated"),
    ]
    assert {row[:2] for row in ratings("answered")} == {("gold", "human")}


def test_nugget_bank_of_auto_judge(tmp_path):
    bank = {
        "Who?": {"question": "Who?", "answers": {"Marsh": {"answer": "Marsh"}}, "question_id": "1"},
        "When?": {"question": "When?", "answers": {}, "question_id": "2"},
    }
    files = {
        "topics.jsonl": [{"id": "t-1", "request": "What of the mill?"}],
        "bank.nuggets.jsonl": [{"query_id": "t-1", "nugget_bank": bank}],
    }
    read(write(tmp_path, files), "nuggets")
    assert questions() == [("Who?", ""), ("When?", "")]
    assert gold() == [("Who?", "t-1:request", "Marsh", "unlocated")]


@pytest.mark.parametrize("key", ["nugget_dict", "nugget_list"])
def test_file_of_the_annotation_tool(tmp_path, key):
    nuggets = {"Who?": {"Marsh": ["d-1", "d-2"], "Ottilie": ["d-1"]}, "When?": {}}
    content = {
        key: nuggets if key == "nugget_dict" else list(nuggets.items()),
        "group_assignment": {"When?": "Times"},
    }
    write(tmp_path, {"topics.jsonl": [{"id": "A1", "request": "What of the mill?"}]})
    (tmp_path / "nuggets_A1.revised.json").write_text(json.dumps(content, indent=2))
    read(tmp_path, "nuggets")
    assert questions() == [("Who?", ""), ("When?", "Times")]
    assert gold() == [
        ("Who?", "A1:request", "Marsh", "unlocated"),
        ("Who?", "A1:request", "Ottilie", "unlocated"),
        ("Who?", "d-1", "Marsh", "unlocated"),
        ("Who?", "d-1", "Ottilie", "unlocated"),
        ("Who?", "d-2", "Marsh", "unlocated"),
    ]


def test_question_that_is_there_twice_keeps_the_answers_of_both(tmp_path):
    """In the annotation tool, of either list and with white space; in a bank, by another key."""
    tool = {
        "nugget_dict": {"Who?": {"Marsh": ["d-1", "d-1"]}, "Who? ": {"Ott": []}},
        "nugget_list": [["Who?", {"Marsh": ["d-2"], "Ottilie": []}]],
    }
    bank = {
        "1": {"question": "When?", "answers": {"May": {}}},
        "2": {"question": "When?", "answers": ["June"]},
    }
    topics = [{"id": name, "request": "What of the mill?"} for name in ("A1", "A2")]
    write(
        tmp_path, {"topics.jsonl": topics, "bank.jsonl": [{"query_id": "A2", "nugget_bank": bank}]}
    )
    (tmp_path / "nuggets_A1.json").write_text(json.dumps(tool))
    read(tmp_path, "nuggets")
    assert sorted(questions()) == [("When?", ""), ("Who?", "")]
    assert sorted(gold()) == [
        ("When?", "A2:request", "June", "unlocated"),
        ("When?", "A2:request", "May", "unlocated"),
        ("Who?", "A1:request", "Marsh", "unlocated"),
        ("Who?", "A1:request", "Ott", "unlocated"),
        ("Who?", "A1:request", "Ottilie", "unlocated"),
        ("Who?", "d-1", "Marsh", "unlocated"),
        ("Who?", "d-2", "Marsh", "unlocated"),
    ]


BROKEN = "nuggets.jsonl"


def test_nugget_that_is_there_twice_counts_twice(tmp_path):
    duplicate = {**WHEEL, "importance": "okay", "mapped_sub_narrative": "When?"}
    read(write(tmp_path, {**RAG25, "nuggets.jsonl": [{"qid": "58", "nuggets": [WHEEL, duplicate]}],
                          "assign/model-a.v1.jsonl": [{**ASSIGNED, "nuggets": [WHEEL, duplicate]}]}),
         "trec-rag")  # fmt: skip
    assert questions() == [
        (WHEEL["text"], WHEEL["mapped_sub_narrative"]),
        (f"{WHEEL['text']} (2)", "When?"),
    ]
    assert [row[-1] for row in ratings("importance")] == [2, 1, 2, 1]


def test_numbered_duplicate_wording_is_own_nugget(tmp_path):
    nuggets = [{"text": "a"}, {"text": "a"}, {"text": "a (2)"}]
    read(write(tmp_path, {"n.jsonl": [{"qid": "58", "query": "?", "nuggets": nuggets}]}), "nuggets")
    assert [body for body, _ in questions()] == ["a", "a (2)", "a (2) (2)"]


OTHERWISE = {"qid": "58", "nuggets": [{**WHEEL, "importance": "okay"}, MAY, COST]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**BANK, "qid": "9 9"}, "nuggets.jsonl:2: qid: must have 1 to 250 characters and no"),
        ({"qid": "58", "nuggets": [{}]}, "nuggets.jsonl:2: nuggets.0.text: is missing"),
        ({"qid": "58", "nuggets": [{**MAY, "importance": "very"}]},
         "nuggets.jsonl:2: nuggets.0.importance: Input should be 'vital', 'okay'"),
        ({"qid": "58", "nuggets": [MAY]},
         "nuggets.jsonl:2: nuggets: topic 58 has 3 questions already, not 1"),
        ({"qid": "58", "nuggets": [{**WHEEL, "mapped_sub_narrative": "x"}, MAY, COST]},
         "nuggets.jsonl:2: groups.0: is there already in the group"),
        (OTHERWISE, "nuggets.jsonl:2: grade: an earlier line grades 58:request otherwise"),
        ({"qid": "58"}, "nuggets.jsonl:2: nuggets: is missing"),
    ],
)  # fmt: skip
def test_unsound_row_is_left_out_and_named(tmp_path, line, message):
    folder = write(tmp_path, with_line({**RAG25, BROKEN: [BANK, BANK]}, BROKEN, 2, line))
    assert left_out(folder, "trec-rag")[0].startswith(message)


TWICE = '{"nugget_dict": {"Who?": {"Marsh": []}, "Who?": {"Ott": []}}}'
NO_NUMBER = '{"nugget_dict": {}, "weight": NaN}'


@pytest.mark.parametrize(
    "content", ["[1]", "{", "[" * 100_000, '{"nugget_dict": {"": {}}}', TWICE, NO_NUMBER]
)
def test_broken_file_of_the_annotation_tool(tmp_path, content):
    write(tmp_path, {"topics.jsonl": [{"id": "1", "request": "What?"}]})
    (tmp_path / "nuggets_1.json").write_text(content)
    assert refused(tmp_path, "nuggets")[0].startswith("nuggets_1.json")


def test_nuggets_assigned_to_passages_are_ratings_of_them():
    read(case("nuggets-assigned-to-passages"), "nuggets")
    assert ratings("nugget-support") == [
        ("assigned", "model", "d1", "", "Marsh mended it", 2),
        ("assigned", "model", "d1", "", "It turned in May", 0),
    ]
    assert Text.objects.get(name="d1").body == "Marsh did it in April."


def test_nuggets_assigned_to_a_passage_without_its_words(tmp_path):
    """The passage is only named. Its id may be a number; with references it is the report."""
    passage = {
        "query": "What of the mill?",
        "qid": "58",
        "docid": 7,
        "nuggets": ASSIGNED["nuggets"],
    }
    files = {"nuggets.jsonl": [BANK], "model-a.jsonl": [passage, ASSIGNED | {"docid": "d1"}]}
    read(write(tmp_path, files), "nuggets")
    names = {(row[2], row[3]) for row in ratings("nugget-support")}
    assert names == {("7", ""), ("58", "run-a")}
    assert Text.objects.get(name="7").body is None


def test_passage_of_nuggets_with_a_name_that_is_none_is_refused(tmp_path):
    passage = {"query": "What?", "qid": "58", "docid": "d 1", "nuggets": ASSIGNED["nuggets"]}
    problem, *_ = refused(write(tmp_path, {"a.jsonl": [passage]}), "nuggets")
    assert problem.startswith("a.jsonl:1: docid: must have 1 to 250 characters")
