"""Vectors and new orders by models behind servers, which fail in every way that they do."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.errors import UserError
from annotation.models import Text
from building.asking.client import Client
from building.asking.reranking import UnscoredReplyError, in_order_of, scores_in
from building.retrieval.recipe import RecipeError
from building.run_creation import RunCreationError, make_run
from building.steps import RecipeContext
from evaluation.models import RetrievalRun
from tests.building.material import BODIES, create_run, make_ferries, names, ranked
from tests.building.model_server import in_turn, reranked, scored, vectors
from tests.toolbox.responses import markup
from tests.toolbox.scripted_server import (
    ScriptedServer,
    as_body,
    as_json,
    models,
    reset,
    status,
    torn,
)

pytestmark = pytest.mark.any_database

EMBED = "embed(server=local, model=tiny)"
RERANK = "required(judge=judge) > rerank(server=local, model=tiny)"  # 0#0, 0#1 without words, 10#10
SCORE = RERANK.replace("model", "kind=score, model")
MINE = "ferry-1"
PATHS = {EMBED: "/v1/embeddings", RERANK: "/v1/rerank", SCORE: "/v1/score"}
RIGHT = {EMBED: vectors(), RERANK: reranked(len), SCORE: scored(len)}


@pytest.fixture
def study(db):
    return make_ferries()


def test_passages_are_ranked_by_a_server_s_vectors(study, server):
    replies = server.answers["/v1/embeddings"] = in_turn(vectors())
    run = create_run(study, EMBED).run
    assert ranked(run) == [
        ("ferry-1:11#11", 1.0),
        ("ferry-1:2#2", 1.0),
        ("ferry-1:0#0", 0.0),
        ("ferry-1:10#10", 0.0),
    ]
    [step] = run.origin["steps"]
    assert (step["server"], step["model"], step["dimension"]) == ("local", "tiny", 3)
    assert (step["tokens"], step["cut_passages"]) == (2048, 0)
    assert {body["truncate_prompt_tokens"] for body in replies.asked} == {2048}
    assert {body["encoding_format"] for body in replies.asked} == {"float"}
    assert server.headers[-1]["Authorization"] == "Bearer a-key-that-is-secret"
    # The passages are there: the second run asks for the length of a vector, and two requests.
    replies.asked.clear()
    assert create_run(study, f"{EMBED} % 2 > mmr(server=local, model=tiny)", "again").is_new
    assert sorted(len(body["input"]) for body in replies.asked) == [1, 1, 1, 1]
    assert not create_run(study, EMBED, "third").is_new


def test_texts_go_in_batches_and_cut_ones_are_counted(cast, study, server, monkeypatch):
    monkeypatch.setattr("building.asking.embeddings.BATCH", 2)
    replies = server.answers["/v1/embeddings"] = in_turn(vectors())
    # Each letter is a token there: “Ferry ferry!” and “nothing of it” have more than 8.
    run = create_run(study, "embed(server=local, model=tiny, tokens=8)").run
    assert run.origin["steps"][0]["cut_passages"] == 2
    assert sorted(len(body["input"]) for body in replies.asked) == [1, 1, 1, 2, 2, 2]
    assert {body["truncate_prompt_tokens"] for body in replies.asked} == {8}
    page = markup(cast.client("researcher").get("/datasets/ferry/building/runs/mine/"))
    assert "tiny truncated 2 passages." in page


def test_truncation_is_unknown_without_token_counts(cast, study, server):
    del server.answers["/tokenize"]
    run = create_run(study, "fuse(bm25, embed(server=local, model=tiny, tokens=8))").run
    page = markup(cast.client("researcher").get("/datasets/ferry/building/runs/mine/"))
    assert "tiny may have truncated passages; the number is not known." in page
    assert run.origin["cut_passages"] == {"tiny": "unknown"}
    replies = server.answers["/v1/embeddings"] = in_turn(vectors())
    created = create_run(study, "embed(server=local, model=tiny, tokens=0)", "left").run
    assert created.origin["steps"][0]["cut_passages"] == "unknown"
    assert not any("truncate_prompt_tokens" in body for body in replies.asked)


@pytest.mark.parametrize("line", [RERANK, SCORE])
def test_ranking_gets_the_order_of_a_reranker(study, server, line):
    replies = server.answers[PATHS[line]] = in_turn(RIGHT[line])
    run = create_run(study, line).run
    # harbour 7, boat 4; the one without words was not sent, and follows.
    assert ranked(run) == [("ferry-1:0#0", 7.0), ("ferry-1:10#10", 4.0), ("ferry-1:0#1", 3.0)]
    assert run.origin["left_out"] == {MINE: 1}
    [body] = replies.asked  # the second topic has no required passage
    assert {"harbour", "boat"} == set(body.get("documents", body.get("text_2")))
    assert "truncate_prompt_tokens" not in body
    cut = line.replace("model=tiny", "model=tiny, tokens=99")
    create_run(study, cut, "cut")
    assert replies.asked[-1]["truncate_prompt_tokens"] == 99
    assert not create_run(study, line, "again").is_new


def test_texts_missing_in_an_answer_follow_and_are_counted(cast, study, server):
    server.answers["/v1/rerank"] = reranked(
        lambda text: -len(text), change=lambda items: [items[0]] * 3
    )
    run = create_run(
        study, "embed(server=local, model=tiny) > rerank(server=local, model=tiny)"
    ).run
    assert names(run) == ["ferry-1:10#10", "ferry-1:11#11", "ferry-1:2#2", "ferry-1:0#0"]
    assert [score for _, score in ranked(run)] == [-4.0, -5.0, -6.0, -7.0]
    assert run.origin["left_out"] == {MINE: 3}
    page = markup(cast.client("researcher").get("/datasets/ferry/building/runs/mine/"))
    assert "A model left out texts for 1 topic" in page
    assert "ferry-1: 3" in page


NO_TEXT = [
    {},
    {"results": []},
    {"results": "none"},
    {"results": [1, None, {"index": 0}, {"relevance_score": 1}]},
    {"results": [{"index": 9, "relevance_score": 1}, {"index": -1, "relevance_score": 1}]},
    {"results": [{"index": "0", "relevance_score": 1}, {"index": 0, "relevance_score": "1"}]},
    {"results": [{"index": True, "relevance_score": 1}, {"index": 0, "relevance_score": None}]},
]


def test_answer_that_names_no_text_is_no_run(study, server, subtests):
    n = RetrievalRun.objects.count()
    for value in NO_TEXT:
        with subtests.test(value):
            server.answers["/v1/rerank"] = as_json(value)
            with pytest.raises(RunCreationError) as error:
                create_run(study, RERANK)
            assert "tiny did not rank ferry-1: of 2 texts the answer scores none" in str(
                error.value
            )
            assert str(error.value).endswith("No run was created.")
            assert RetrievalRun.objects.count() == n


@pytest.mark.django_db(transaction=True)
def test_transaction_is_not_open_during_server_requests(server, monkeypatch):
    """On SQLite nobody could write anything until it had answered."""
    asked_within = []
    ask = Client.answers

    def answers(self, *question):
        asked_within.append(connection.in_atomic_block)
        return ask(self, *question)

    monkeypatch.setattr(Client, "answers", answers)
    make_ferries()
    out = StringIO()
    line = f"{EMBED} % 2 > rerank(server=local, model=tiny)"
    server.answers["/v1/rerank"] = reranked(len, change=lambda items: items[:1])
    call_command("retrieve", "ferry", name="mine", recipe=line, stdout=out)
    assert set(asked_within) == {False}
    assert (
        "Answers left out texts of 1, which follow in the order that they had: ferry-1 1."
        in out.getvalue()
    )


def test_interrupted_command_reports_that_no_run_is_stored(study, server, monkeypatch):
    def interrupted(*question):
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "answers", interrupted)
    with pytest.raises(CommandError, match=r"^Stopped: no run is made\.$"):
        call_command("retrieve", "ferry", name="mine", recipe=RERANK)
    assert not RetrievalRun.objects.filter(name="mine").exists()


def test_ranking_of_which_no_words_are_there_is_none(study, server):
    Text.objects.filter(dataset=study.dataset, kind="passage").update(body=None, sha256="")
    with pytest.raises(RunCreationError, match="ferry-1: the words of none of its texts are there"):
        create_run(study, RERANK)


@pytest.mark.parametrize("line", [EMBED, RERANK, SCORE])
@pytest.mark.parametrize(
    "trouble",
    [
        status(500),
        status(429, headers={"Retry-After": "0"}),
        reset,
        torn,
        as_body("<html>busy</html>"),
        as_json({"error": {"message": "out of memory"}}),
    ],
)
def test_transient_error_is_retried(study, server, line, trouble):
    server.answers[PATHS[line]] = in_turn(trouble, trouble, RIGHT[line])
    assert create_run(study, line).is_new


FINAL = [
    (status(500, "CUDA error"), r"gave no answer in \d+ tries: 500 CUDA error"),
    (status(401), "refuses the key that it was sent"),
    (status(402, "No credit"), r"wants to be paid \(status 402\): No credit"),
    (status(429, "Spent.", code="insufficient_quota"), "has no quota left: 429 Spent"),
    (status(429, headers={"Retry-After": "7200"}), "asks to wait for 120 minutes"),
    (status(404, "The model tiny does not exist"), "does not serve tiny"),
    (status(404), "The address of a server usually ends with /v1"),
    (status(400, "text a-key-that-is-secret is too long"), r"400\): text \[key\] is too long"),
    (as_json({"model": "huge"}), "was for tiny, but huge answered"),
]


@pytest.mark.parametrize("line", [EMBED, RERANK, SCORE])
def test_permanent_error_is_reported_and_stores_no_run(study, server, subtests, monkeypatch, line):
    n = RetrievalRun.objects.count()
    for answer, message in FINAL:
        retry_seconds = 0.0 if "gave no answer" in message else 600.0
        monkeypatch.setattr("building.asking.client.RETRY_SECONDS", retry_seconds)
        with subtests.test(message):
            server.answers[PATHS[line]] = answer
            with pytest.raises(UserError, match=message):
                create_run(study, line)
            assert RetrievalRun.objects.count() == n


def test_answer_without_end_is_not_read(study, server):
    server.answers["/v1/rerank"] = as_body(b" " * 900_000)
    with pytest.raises(RunCreationError, match=r"answered with more than 256,\d+ bytes"):
        create_run(study, RERANK)


@pytest.mark.timing
@pytest.mark.parametrize("line", [EMBED, RERANK, SCORE])
def test_answer_that_takes_too_long_is_asked_for_again(study, server, monkeypatch, line):
    monkeypatch.setattr("building.asking.client.TIMEOUT", 1.0)
    server.answers[PATHS[line]] = in_turn(as_json({}, delay=60), RIGHT[line])
    assert create_run(study, line).is_new


@pytest.mark.parametrize("line", [EMBED, RERANK, SCORE])
def test_model_that_a_server_does_not_list_is_asked_all_the_same(study, server, line):
    server.answers["/v1/models"] = models("huge", "other")
    server.answers[PATHS[line]] = in_turn(RIGHT[line])
    assert create_run(study, line).is_new


def test_server_that_is_gone_and_one_of_two_that_is(study, server, settings, monkeypatch):
    monkeypatch.setattr("building.asking.client.RETRY_SECONDS", 0.0)
    two = f"http://127.0.0.1:9/v1|{server.url}"
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1", "two": two}
    with pytest.raises(UserError, match=r"1:9/v1 gave no answer in .* connection failed"):
        create_run(study, RERANK)
    with pytest.raises(UserError, match=r"1:9/v1 gave no answer"):
        create_run(study, RERANK.replace("local", "two"))
    settings.JUDGE_ENDPOINTS = {"local": "ftp://nowhere"}
    with pytest.raises(UserError, match="must begin with http"):
        create_run(study, RERANK)


def test_servers_are_asked_round_robin(study, server, settings):
    with ScriptedServer() as second:
        settings.JUDGE_ENDPOINTS = {"local": f"{server.url}|{second.url}"}
        server.answers["/v1/rerank"] = in_turn(status(503))
        fine = second.answers["/v1/rerank"] = in_turn(reranked(len))
        assert create_run(study, RERANK).is_new
        assert len(fine.asked) == 1
        assert len(server.answers["/v1/rerank"].asked) == 1


def test_rate_limited_server_does_not_delay_others(study, server, settings):
    with ScriptedServer() as second:
        settings.JUDGE_ENDPOINTS = {"local": f"{server.url}|{second.url}"}
        server.answers["/v1/rerank"] = status(429, headers={"Retry-After": "500"})
        second.answers["/v1/rerank"] = reranked(len)
        assert create_run(study, RERANK).is_new


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda items: items[1:], "has not one of equal length"),
        (lambda items: [items[0], *items], "has not one of equal length"),
        (lambda items: [*items[1:], {**items[0], "embedding": [1.0]}], "not one of equal length"),
        (lambda items: [{**item, "embedding": []} for item in items], "not one of equal length"),
        (lambda items: [{**item, "embedding": [None] * 3} for item in items], "not one of equal"),
        (lambda items: [{**item, "embedding": "x"} for item in items], "not one of equal length"),
        (lambda items: [{**item, "index": []} for item in items], "has not one of equal length"),
        (lambda items: [10**400] * len(items), "has not one of equal length"),
        (lambda items: None, "has not one of equal length"),
        (
            lambda items: [{**item, "embedding": [1.0, 1.0]} for item in items],
            "gave vectors of 3 numbers, and now one of 2: there are several models under this name",
        ),
    ],
)
def test_vectors_that_are_not_there_or_of_another_length_are_refused(
    study, server, change, message
):
    server.answers["/v1/embeddings"] = in_turn(vectors(), vectors(change=change))
    n = RetrievalRun.objects.count()
    with pytest.raises(UserError, match=message):
        create_run(study, EMBED)
    assert RetrievalRun.objects.count() == n


def test_model_of_another_dimension_under_the_same_name_is_refused(study, server):
    create_run(study, EMBED)
    server.answers["/v1/embeddings"] = vectors(dimension=2)
    with pytest.raises(UserError, match=r"have 3 numbers each, and those of tiny have 2 now"):
        create_run(study, EMBED, "other")


@pytest.mark.timing
def test_killed_server_leaves_what_it_made(study, settings, monkeypatch, tmp_path):
    """A real process, gone in the midst; another one then makes what is missing."""
    monkeypatch.setattr("building.asking.client.RETRY_SECONDS", 0.0)
    monkeypatch.setattr("building.asking.embeddings.BATCH", 1)
    monkeypatch.setattr("building.vectors.AT_ONCE", 2)

    def serve(n):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.building.model_server", str(n)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        settings.JUDGE_ENDPOINTS = {
            "local": f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        }
        return process

    with serve(1 + 4) as process:  # the length of a vector, and two times two passages
        with pytest.raises(UserError, match="gave no answer"):
            create_run(study, EMBED)
        assert process.wait(10) == 1
    assert not RetrievalRun.objects.filter(name="mine").exists()
    # Length, the two passages that are left, and a request for each topic: not one more.
    with serve(1 + (len(BODIES) - 4) + 2) as process:
        assert create_run(study, EMBED).is_new
        assert process.poll() is None
        process.kill()
    [folder] = (tmp_path / "vectors").iterdir()
    assert not folder.name.startswith(".")


IMPOSSIBLE = [
    ("embed", "embed: add the server, server=NAME. JUDGE_ENDPOINTS has: local."),
    ("embed(server=local)", "embed: add the model of the server, model=NAME."),
    ("embed(server=far, model=tiny)", "This machine knows no endpoint 'far'"),
    ("embed(server=local, model=tiny, tokens=x)", "embed: tokens is a whole number, not “x”."),
    ("rerank(server=local, model=tiny)", "rerank needs a ranking before it"),
    (RERANK.replace("model", "kind=best, model"), "rerank: kind is rerank or score"),
    ("bm25 > mmr(server=local)", "mmr: add the model"),
]


def test_impossible_recipe_is_reported(study, server, subtests):
    for line, message in IMPOSSIBLE:
        with subtests.test(line):
            with pytest.raises(UserError) as error:
                create_run(study, line)
            assert message in str(error.value)


@pytest.mark.parametrize("line", [EMBED, RERANK, "bm25 > mmr(server=local, model=tiny)"])
def test_page_asks_no_server_and_says_who_does(cast, study, server, line):
    with pytest.raises(RecipeError, match=r"manage\.py retrieve ferry --name NAME"):
        make_run(study.dataset, "page", line, RecipeContext(study.dataset, opens_files=True))
    sent = {"name": "page", "recipe": line}
    response = cast.client("admin").post("/datasets/ferry/building/new-run/", sent)
    assert response.status_code == 422
    assert "is too slow for a page" in markup(response)
    assert server.headers == []


def test_scores_by_hand():
    # 2 is named twice: its first score counts. 4 is no text, and NaN no score.
    items = [(2, 0.5), (0, 0.5), (2, 9), (4, 1), (1, float("nan"))]
    answer = {"results": [{"index": i, "relevance_score": s} for i, s in items]}
    scores = scores_in(answer, "rerank", 4)
    assert scores == {2: 0.5, 0: 0.5}
    texts = [(10, 4.0), (11, 3.0), (12, 2.0), (13, 1.0)]
    # Equal scores as they were; then those without one, a step below the lowest each.
    assert in_order_of(texts, scores) == [(10, 0.5), (12, 0.5), (11, -0.5), (13, -1.5)]
    with pytest.raises(
        UnscoredReplyError, match="of 4 texts the answer scores none: it has 5 entries"
    ):
        scores_in({"data": [{"index": 9, "score": 1}] * 5}, "score", 4)
