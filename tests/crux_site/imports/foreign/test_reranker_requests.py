"""--format reranker-requests: topics, passages and the run of one file."""

import pytest

from annotation.models import Text, Topic
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

FILE = "bm25.top3.jsonl"
REQUESTS = {
    FILE: [
        {
            "query": {"qid": 100, "text": "Who mended the wheel?"},
            "candidates": [
                {"docid": "d#0_2", "score": 37, "doc": {"title": "Mill", "segment": "Marsh did."}},
                {"docid": "d#0_1", "score": 36.5, "doc": "It turned."},
                {"docid": "d#0_9", "score": 36.5},
            ],
        },
        {
            "query": {"qid": "101", "text": "What did it cost?"},
            "candidates": [
                {"docid": "d#0_1", "doc": {"contents": "It turned."}},
                {"docid": "d#0_3", "doc": {"text": "A lot."}},
            ],
        },
    ]
}


def test_topics_passages_and_the_run(tmp_path):
    summary = read(write(tmp_path, REQUESTS), "reranker-requests")
    assert list(Topic.objects.values_list("name", "request")) == [
        ("100", "Who mended the wheel?"),
        ("101", "What did it cost?"),
    ]
    assert dict(Text.objects.values_list("name", "body")) == {
        "d#0_2": "Mill\nMarsh did.",
        "d#0_1": "It turned.",
        "d#0_3": "A lot.",
        "d#0_9": None,
    }
    run = RetrievalRun.objects.get()
    assert (run.name, run.tag) == ("bm25.top3", "bm25.top3")
    ranked = RankedText.objects.order_by("topic", "rank")
    assert list(ranked.values_list("topic__name", "text__name", "rank", "score")) == [
        ("100", "d#0_2", 1, 37.0),
        ("100", "d#0_1", 2, 36.5),
        ("100", "d#0_9", 3, 36.5),
        ("101", "d#0_1", 1, 1.0),
        ("101", "d#0_3", 2, 0.5),
    ]
    assert [(file.name, file.read) for file in summary.files] == [(FILE, 2)]


def test_single_packed_file(tmp_path):
    write(tmp_path, {f"{FILE}.gz": REQUESTS[FILE]})
    read(tmp_path / f"{FILE}.gz", "reranker-requests")
    assert RetrievalRun.objects.get().name == "bm25.top3"


def line(**changed):
    first, *remaining = REQUESTS[FILE][0]["candidates"]
    return {**REQUESTS[FILE][0], "candidates": [{**first, **changed}, *remaining]}


@pytest.mark.parametrize(
    ("number", "broken", "message"),
    [
        (2, {"query": {"qid": "101", "text": "x"}}, f"{FILE}:2: candidates: is missing"),
        (2, {"query": {"qid": "101"}, "candidates": []}, f"{FILE}:2: query.text: is missing"),
        (1, line(docid="d 0"), f"{FILE}:1: candidates.0.docid: must have 1 to 250"),
        (1, line(score="high"), f"{FILE}:1: candidates.0.score: Input should be a valid number"),
        (1, line(doc=7), f"{FILE}:1: candidates.0.doc"),
        (1, line(docid="d#0_1", doc="It turned."), f"{FILE}:1: candidates: d#0_1 is ranked twice"),
        (1, line(docid="d#0_1"), f"{FILE}:1: candidates: d#0_1 has other words on line 1"),
    ],
)  # fmt: skip
def test_unsound_row_is_left_out_and_named(tmp_path, number, broken, message):
    folder = write(tmp_path, with_line(REQUESTS, FILE, number, broken))
    assert left_out(folder, "reranker-requests")[0].startswith(message)


def test_empty_file(tmp_path):
    messages = refused(write(tmp_path, {FILE: []}), "reranker-requests")
    assert messages == [f"{FILE}: holds no JSON object at its beginning"]
