"""A run at several servers: how they are named, that each pair is stored once, and who is put aside."""

import asyncio
import itertools
import json
from io import StringIO
from threading import Thread

import pytest
from django.core.management import CommandError, call_command

from judging.engine import runs, states
from judging.engine.budget import Prices, prices_of
from judging.engine.choosing import addresses_of
from judging.engine.selection import Selection
from judging.graders import openai_asking, patience
from judging.graders.base import GraderError
from judging.graders.openai_server import Address
from judging.models import Attempt, JudgeRun
from tests.judging.engine.material import a_judge, all_pairs, counted, make_study, planned
from tests.judging.graders.scripted_server import (
    MODEL,
    ScriptedServer,
    as_json,
    completion,
    models,
    said,
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
    monkeypatch.setattr(openai_asking, "MAKES_WAY", 0)
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.02)
    with ScriptedServer() as one, ScriptedServer() as other:
        yield one, other


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
    for wrong, why in (("one|far", "knows no endpoint 'far'"), ("one|", "say which one")):
        with pytest.raises(GraderError, match=why):
            addresses_of(wrong)


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("", ""),
        ("lab|big", "lab and big"),
        (f"lab|{A}", "lab and given by its address"),
        (f"{A}|{B}", "2 given by their addresses"),
    ],
)
def test_addresses_stay_with_who_gave_them(endpoint, words):
    assert JudgeRun(endpoint=endpoint).server == words


def test_several_have_the_price_of_the_table_where_it_is_the_same(settings):
    settings.JUDGE_PRICES = {"one": "1/2/EUR", "other": "1/2/EUR", "dear": "3/4/EUR"}
    assert prices_of("one|other") == Prices(1, 2, "EUR")
    assert prices_of("one|dear") == prices_of("one|unknown") == Prices()


def test_each_address_is_looked_at_before_a_run_is_made(judge, study):
    refusals = {f"{A}|ftp://b": "must begin with http", "|".join([A] * 40): "one name in JUDGE_END"}
    for endpoint, why in refusals.items():
        with pytest.raises(states.RunRefused, match=why):
            runs.start(judge, study, Selection(), endpoint=endpoint)
    with pytest.raises(CommandError, match="knows no endpoint 'far'"):
        command("--endpoint", A, "--endpoint", "far")
    assert not JudgeRun.objects.exists()


def test_one_that_serves_another_model_is_named_by_the_command_and_the_page(
    judge, study, servers, settings, cast
):
    one, other = servers
    for topic, n in itertools.product(range(2), range(4)):
        answer = as_json(completion("4") | {"model": "large"})
        other.script(f"Question {n} of {topic}?", answer)
    settings.JUDGE_ENDPOINTS = {"pool": f"{one.url}|{other.url}"}
    printed = command("--endpoint", "pool")
    why = f"The server at {other.url} answers as large. If that is the model you mean, copy this judge"
    assert f"A server was put aside: {why}" in printed
    assert "24 pairs graded" in printed
    run = JudgeRun.objects.get()
    assert (run.state, list(run.put_aside)) == ("finished", [other.url])
    page = cast.client("admin").get(run.get_absolute_url()).content.decode()
    assert f"A server was put aside, and its pairs went to the others. {why}" in page


@pytest.mark.timing
def test_one_that_is_killed_costs_no_pair_and_none_is_stored_twice(judge, study, servers):
    one, other = servers
    gone = Thread(target=other.stop)

    async def last(request, body):
        if not gone.ident:
            gone.start()
        return await said("4", after=60)(request, body)

    for question in (f"Question {n} of {topic}?" for topic in range(2) for n in range(4)):
        one.script(question, said("3", after=0.02))
        other.script(question, said("4"), last)
    told = ("--endpoint", one.url, "--endpoint", other.url, "--concurrency", "4")
    printed = json.loads(command(*told, "--json"))
    gone.join()
    other.start()
    assert (printed["state"], printed["graded"], printed["failures"]) == ("finished", 24, {})
    assert list(printed["put_aside"]) == [other.url]
    assert counted(judge).keys() == all_pairs(study)
    assert Attempt.objects.count() == 24
    assert JudgeRun.objects.get().endpoint == f"{one.url}|{other.url}"


def test_where_none_is_left_the_run_is_paused_and_says_so(judge, servers):
    no_such_model = status(404, "The model `tiny` does not exist.")
    for each in servers:
        each.answers |= {"/v1/models": models("large"), "/v1/chat/completions": no_such_model}
    told = [word for each in servers for word in ("--endpoint", each.url)]
    with pytest.raises(CommandError, match="does not serve tiny"):
        command(*told)
    run = JudgeRun.objects.get()
    assert (run.state, len(run.put_aside)) == ("paused", 1)
    assert "does not serve tiny" in run.note
    for each in servers:
        del each.answers["/v1/chat/completions"]
    command(*told)
    run.refresh_from_db()
    assert (run.state, run.put_aside) == ("finished", {})  # whoever resumes asks all of them again


def test_server_that_answers_as_another_model_is_asked_once_and_pauses_the_run(judge, servers):
    server, _ = servers
    for topic, n in itertools.product(range(2), range(4)):
        answer = as_json(completion("4") | {"model": "gpt-4o-2024-08-06"})
        server.script(f"Question {n} of {topic}?", answer)
    says = r"answers as gpt-4o-2024-08-06\. If that is the model you mean, copy this judge to a new one"
    with pytest.raises(CommandError, match=says):
        command("--endpoint", server.url, "--concurrency", "8")
    run = JudgeRun.objects.get()
    assert (run.state, server.asked.total(), Attempt.objects.count()) == ("paused", 1, 0)
    assert "under “Replies name the model as”" in run.note


@pytest.mark.timing
def test_server_of_one_slot_grades_each_pair_once_and_the_run_knows_what_it_takes(judge, servers):
    server, _ = servers
    slot = asyncio.Lock()

    async def one_at_a_time(request, body):
        async with slot:
            return await said("4", after=0.1)(request, body)

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
