"""A run at several servers: their names, exactly-once storage, and failover."""

import asyncio
import itertools
import json
from io import StringIO
from threading import Thread

import pytest
from django.core.management import CommandError, call_command

from judging.engine import runs
from judging.engine.budget import Prices, prices_of
from judging.engine.grader_choice import addresses_of
from judging.engine.selection import Selection
from judging.execution import states
from judging.llm import retry, server_client
from judging.llm.errors import BackendError
from judging.llm.server import Address
from judging.models import Attempt, JudgeRun
from tests.toolbox.judging_study import a_judge, all_pairs, counted, make_study, planned
from tests.toolbox.scripted_server import (
    MODEL,
    ScriptedServer,
    as_json,
    completion,
    models,
    reply_with,
    status,
)

A, B, C = "http://a/v1", "http://b/v1", "http://c/v1"


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def judge(study):
    prompt = "{question}\nText: {text}"
    return a_judge("model", model=MODEL, prompt=prompt, parser="integer-1")


@pytest.fixture
def servers(monkeypatch):
    """Two of them, and a client that gives up one soon while the other answers."""
    monkeypatch.setattr(server_client, "MAKES_WAY", 0)
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)
    with ScriptedServer() as one, ScriptedServer() as second:
        yield one, second


def command(*arguments):
    out = StringIO()
    call_command("judge", "study", "--judge", "model", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_names_and_addresses_and_their_keys(settings, monkeypatch):
    settings.JUDGE_ENDPOINTS = {"one": A, "gpu-pool": f"{B}|{C}"}
    monkeypatch.setenv("JUDGE_KEY", "plain")
    monkeypatch.setenv("JUDGE_KEY_GPU_POOL", "pooled")
    assert addresses_of("one") == [Address(A, None)]
    assert addresses_of("gpu-pool") == [Address(B, "pooled"), Address(C, "pooled")]
    assert addresses_of(f"one|gpu-pool|{A}")[2:] == [Address(C, "pooled"), Address(A, "plain")]
    assert "pooled" not in repr(addresses_of("gpu-pool"))
    for wrong, reason in (
        ("one|far", "knows no endpoint 'far'"),
        ("one|", "name one as its endpoint"),
    ):
        with pytest.raises(BackendError, match=reason):
            addresses_of(wrong)


@pytest.mark.parametrize(
    ("endpoint", "text"),
    [
        ("", ""),
        ("lab|big", "lab and big"),
        (f"lab|{A}", "lab and given by its address"),
        (f"{A}|{B}", "2 given by their addresses"),
    ],
)
def test_addresses_stay_with_who_gave_them(endpoint, text):
    assert JudgeRun(endpoint=endpoint).server == text


def test_several_have_the_price_of_the_table_where_it_is_the_same(settings):
    settings.JUDGE_PRICES = {"one": "1/2/EUR", "other": "1/2/EUR", "dear": "3/4/EUR"}
    assert prices_of("one|other") == Prices(1, 2, "EUR")
    assert prices_of("one|dear") == prices_of("one|unknown") == Prices()


def test_addresses_are_checked_before_a_run_is_created(judge, study):
    refusals = {f"{A}|ftp://b": "must begin with http", "|".join([A] * 40): "one name in JUDGE_END"}
    for endpoint, reason in refusals.items():
        with pytest.raises(states.RunStateError, match=reason):
            runs.start(judge, study, Selection(), endpoint=endpoint)
    with pytest.raises(CommandError, match="knows no endpoint 'far'"):
        command("--endpoint", A, "--endpoint", "far")
    assert not JudgeRun.objects.exists()


def test_server_with_another_model_is_named_by_command_and_page(
    judge, study, servers, settings, cast
):
    one, second = servers
    for topic, n in itertools.product(range(2), range(4)):
        answer = as_json(completion("4") | {"model": "large"})
        second.script(f"Question {n} of {topic}?", answer)
    settings.JUDGE_ENDPOINTS = {"pool": f"{one.url}|{second.url}"}
    printed = command("--endpoint", "pool")
    reason = f"The server at {second.url} answers as large. If that is the model you mean, copy this judge"
    assert f"A server was dropped: {reason}" in printed
    assert "24 pairs graded" in printed
    run = JudgeRun.objects.get()
    assert (run.state, list(run.put_aside)) == ("finished", [second.url])
    page = cast.client("admin").get(run.get_absolute_url()).content.decode()
    assert f"A server is no longer used; the other servers grade its pairs. {reason}" in page


@pytest.mark.timing
def test_killed_server_costs_no_pair_and_none_is_stored_twice(judge, study, servers):
    one, second = servers
    killer = Thread(target=second.stop)

    async def last(request, body):
        if not killer.ident:
            killer.start()
        return await reply_with("4", delay=60)(request, body)

    for question in (f"Question {n} of {topic}?" for topic in range(2) for n in range(4)):
        one.script(question, reply_with("3", delay=0.02))
        second.script(question, reply_with("4"), last)
    options = ("--endpoint", one.url, "--endpoint", second.url, "--concurrency", "4")
    printed = json.loads(command(*options, "--json"))
    killer.join()
    second.start()
    assert (printed["state"], printed["graded"], printed["failures"]) == ("finished", 24, {})
    assert list(printed["put_aside"]) == [second.url]
    assert counted(judge).keys() == all_pairs(study)
    assert Attempt.objects.count() == 24
    assert JudgeRun.objects.get().endpoint == f"{one.url}|{second.url}"


def test_run_without_servers_is_paused_with_a_note(judge, servers):
    no_such_model = status(404, "The model `tiny` does not exist.")
    for server in servers:
        server.answers |= {"/v1/models": models("large"), "/v1/chat/completions": no_such_model}
    options = [option for server in servers for option in ("--endpoint", server.url)]
    with pytest.raises(CommandError, match="does not serve tiny"):
        command(*options)
    run = JudgeRun.objects.get()
    assert (run.state, len(run.put_aside)) == ("paused", 1)
    assert "does not serve tiny" in run.note
    for server in servers:
        del server.answers["/v1/chat/completions"]
    command(*options)
    run.refresh_from_db()
    assert (run.state, run.put_aside) == ("finished", {})  # whoever resumes asks all of them again


def test_server_that_answers_as_another_model_is_asked_once_and_pauses_the_run(judge, servers):
    server, _ = servers
    for topic, n in itertools.product(range(2), range(4)):
        answer = as_json(completion("4") | {"model": "gpt-4o-2024-08-06"})
        server.script(f"Question {n} of {topic}?", answer)
    message = r"answers as gpt-4o-2024-08-06\. If that is the model you mean, copy this judge to a new one"
    with pytest.raises(CommandError, match=message):
        command("--endpoint", server.url, "--concurrency", "8")
    run = JudgeRun.objects.get()
    assert (run.state, server.asked.total(), Attempt.objects.count()) == ("paused", 1, 0)
    assert "under “Model name in replies”" in run.note


@pytest.mark.timing
def test_server_of_one_slot_grades_each_pair_once_and_the_run_knows_what_it_takes(judge, servers):
    server, _ = servers
    slot = asyncio.Lock()

    async def one_at_a_time(request, body):
        async with slot:
            return await reply_with("4", delay=0.1)(request, body)

    for topic, n in itertools.product(range(2), range(4)):
        server.script(f"Question {n} of {topic}?", one_at_a_time)
    command("--endpoint", server.url, "--concurrency", "64", "--reply-seconds", "1")
    run = JudgeRun.objects.get()
    assert (run.state, server.asked.total(), Attempt.objects.count()) == ("finished", 24, 24)
    assert run.current_concurrency < 64


def test_workers_write_down_what_each_of_them_sees(judge, study):
    run = planned(judge, study)
    mine, theirs = JudgeRun.objects.get(pk=run.pk), JudgeRun.objects.get(pk=run.pk)
    states.put_server_aside(mine, A, "It is gone.")
    states.put_server_aside(theirs, B, "It is another.")
    states.put_server_aside(mine, A, "It is still gone.")
    run.refresh_from_db()
    assert run.put_aside == {A: "It is still gone.", B: "It is another."}
