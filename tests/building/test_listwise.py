"""Listwise reranking by a chat model: windows, replies, and invalid replies."""

import re

import pytest

from annotation.models import Text
from building.asking.listwise import permutation, prompt, windows
from building.retrieval.recipe import RecipeError
from building.run_creation import RunCreationError
from evaluation.models import RetrievalRun
from tests.building.material import create_run, make_ferries, names, ranked
from tests.building.model_server import in_turn
from tests.toolbox.scripted_server import reply_with, reset, status

BEFORE = "embed(server=local, model=tiny)"  # 11#11 ferry, 2#2 Ferry ferry!, 0#0 harbour, 10#10 boat
LINE = f"{BEFORE} > listwise(server=local, model=tiny)"
CHAT = "/v1/chat/completions"
PASSAGE = re.compile(r"^\[(\d+)\] (?!>)(.*)$", re.MULTILINE)


@pytest.fixture
def study(db):
    return make_ferries()


def with_options(options):
    return f"{LINE[:-1]}, {options})"


@pytest.mark.parametrize(
    ("n", "window", "stride", "expected"),
    [
        (5, 20, 10, [(0, 5)]),
        (20, 20, 10, [(0, 20)]),
        (21, 20, 10, [(1, 21), (0, 11)]),
        (6, 4, 2, [(2, 6), (0, 4)]),
        (5, 2, 1, [(3, 5), (2, 4), (1, 3), (0, 2)]),
        (1, 20, 10, []),
        (0, 20, 10, []),
    ],
)
def test_windows_go_from_the_last_to_the_first(n, window, stride, expected):
    assert list(windows(n, window, stride)) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("[2] > [1] > [3]", [1, 0, 2]),
        ("[2]>[1]>[3]\n", [1, 0, 2]),
        ("[ 2 ], [1], [3].", [1, 0, 2]),
        ("[2]\n[3]\n[1]", [1, 2, 0]),
        ("2 > 1 > 3", [1, 0, 2]),
        ("Here they are: [3] > [1] > [2]. Passage [3] is best.", [2, 0, 1]),
        ("[2] > [1] or rather [1] > [2]", [0, 1]),  # of equal ones the last
        ("[3] > [1]", [2, 0]),  # 2 is lacking
        ("[3] > [3] > [1] > [9] > [0]", [2, 0]),
        ("<think>[1] > [2] > [3]</think>[3] > [2] > [1]", [2, 1, 0]),
        ("<think>[1] > [2] > [3]", []),
        ("[1] The ferry sank. [2] A harbour. [3] A boat.", []),  # the passages, and no order
        ("I cannot rank passages.", []),
        ("1", []),
        ("In 1999 > 3 ferries", []),
        ("", []),
    ],
)
def test_order_is_read_from_a_reply(reply, expected):
    assert permutation(reply, 3) == expected


def test_prompt_shows_each_text_on_a_line():
    message = prompt("What {n} failed?", ["A\nferry\n[2] x", "word " * 1_000, "{request}"])
    assert PASSAGE.findall(message) == [
        ("1", "A ferry [2] x"),
        ("2", " ".join(["word"] * 300)),
        ("3", "{request}"),
    ]
    assert "Request:\nWhat {n} failed?\n" in message
    assert "[3]" not in prompt("q", ["a", "b"])


def by_length(request, body):
    """The reply of a model that likes long texts."""
    matches = PASSAGE.findall(body["messages"][-1]["content"])
    best = sorted(matches, key=lambda match: -len(match[1]))
    return reply_with(" > ".join(f"[{number}]" for number, _ in best))(request, body)


def test_ranking_gets_the_order_of_a_chat_model(study, server):
    replies = server.answers[CHAT] = in_turn(by_length)
    run = create_run(study, LINE).run
    # By their lengths 12, 7, 5, 4.
    assert ranked(run) == [
        ("ferry-1:2#2", 4.0),
        ("ferry-1:0#0", 3.0),
        ("ferry-1:11#11", 2.0),
        ("ferry-1:10#10", 1.0),
    ]
    assert run.origin["left_out"] == {}
    [body] = replies.asked
    assert (body["temperature"], body["max_tokens"]) == (0, 240)
    assert "Which ferry?" in body["messages"][0]["content"]
    step = run.origin["steps"][-1]
    assert (step["window"], step["stride"], step["words"]) == (20, 10, 300)
    # In windows of two the longest rises to the top, one place each time.
    replies.asked.clear()
    narrow = create_run(study, with_options("window=2, stride=1"), "narrow")
    assert names(narrow.run) == ["ferry-1:2#2", "ferry-1:11#11", "ferry-1:0#0", "ferry-1:10#10"]
    assert len(replies.asked) == 3


def test_texts_missing_in_replies_follow_and_are_counted(study, server):
    server.answers[CHAT] = reply_with("[4] > [4] > [2]")
    run = create_run(study, LINE).run
    assert names(run) == ["ferry-1:10#10", "ferry-1:2#2", "ferry-1:11#11", "ferry-1:0#0"]
    assert run.origin["left_out"] == {"ferry-1": 2}
    # Of three windows the second has no order: its two texts stay as they are, and are told.
    server.answers[CHAT] = in_turn(
        reply_with("[2] > [1]"), reply_with("I cannot."), reply_with("[2] > [1]")
    )
    narrow = create_run(study, with_options("window=2, stride=1"), "narrow")
    assert names(narrow.run) == ["ferry-1:2#2", "ferry-1:11#11", "ferry-1:10#10", "ferry-1:0#0"]
    assert narrow.run.origin["left_out"] == {"ferry-1": 2}


@pytest.mark.parametrize(
    "content", ["I cannot, says a-key-that-is-secret.", "", None, ["[1] > [2]"]]
)
def test_without_any_order_there_is_no_run(study, server, content):
    server.answers[CHAT] = reply_with(content)
    n = RetrievalRun.objects.count()
    with pytest.raises(
        RunCreationError, match="tiny did not rank ferry-1: no reply has an order"
    ) as refused:
        create_run(study, LINE)
    assert "secret" not in str(refused.value)
    assert RetrievalRun.objects.count() == n


def test_broken_server_is_asked_again_and_one_text_is_in_order(study, server):
    replies = server.answers[CHAT] = in_turn(status(500), reset, by_length)
    assert create_run(study, LINE).is_new
    replies.asked.clear()
    assert create_run(study, LINE.replace(" > listwise", " % 1 > listwise"), "one").is_new
    assert replies.asked == []
    server.answers[CHAT] = in_turn(status(400, "context length exceeded"))
    with pytest.raises(RunCreationError, match=r"\(status 400\): context length exceeded"):
        create_run(study, with_options("window=3, stride=1"), "long")


def test_texts_without_words_are_not_shown(study, server):
    replies = server.answers[CHAT] = in_turn(reply_with("[2] > [1]"))
    run = create_run(study, LINE.replace(BEFORE, "required(judge=judge)")).run
    assert names(run) == ["ferry-1:10#10", "ferry-1:0#0", "ferry-1:0#1"]
    assert run.origin["left_out"] == {"ferry-1": 1}
    Text.objects.filter(name="ferry-1:10#10").update(body=None, sha256="")
    replies.asked.clear()
    assert names(create_run(study, LINE.replace(BEFORE, "required(judge=judge)"), "one").run)
    assert replies.asked == []


@pytest.mark.parametrize(
    "options", ["window=1", "window=101", "stride=0", "window=10", "window=10, stride=11"]
)
def test_windows_that_cannot_be(study, server, options):
    with pytest.raises(RecipeError, match="listwise: window is at most 100"):
        create_run(study, with_options(options))
