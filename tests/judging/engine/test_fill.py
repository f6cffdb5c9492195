"""The pump: whatever the grader does, each pair is stored once and none is lost."""

import pytest

from annotation.models import SubQuestion, Text
from judging.engine import fill
from judging.engine.fill import pump
from judging.engine.selection import Selection
from judging.execution import leases
from judging.llm.errors import BackendError
from judging.models import Attempt
from tests.judging.engine.fill_material import fresh, go_on, interrupting, is_whole, nothing_is_lent
from tests.toolbox.clock import FakeClock
from tests.toolbox.judging_study import (
    WORKER,
    Grader,
    Scripted,
    a_judge,
    add_text,
    agrees,
    all_pairs,
    counted,
    failed,
    graded,
    key,
    make_study,
    planned,
)
from tests.toolbox.threads import in_threads


@pytest.fixture
def run(db):
    """200 pairs in four shards of 50."""
    return planned(a_judge(), make_study(topics=2, texts=10, questions=10))


def test_run_is_filled_and_finished(run):
    done = pump(run, Scripted(lambda p: failed(p) if p.question_id % 4 == 0 else graded(p)), WORKER)
    assert (done.sent, done.graded + done.failed) == (200, 200)
    assert done.failed == sum(state != "graded" for state, _ in counted(run.judge).values()) > 0
    assert (run.state, fresh(run).state) == ("finished", "finished")
    assert fresh(run).ended is not None
    assert is_whole(run)


def test_grader_gets_the_words_of_text_question_and_request(run):
    grader = Scripted()
    pump(run, grader, WORKER)
    pair = grader.asked[-1]
    assert pair.text == Text.objects.get(pk=pair.text_id).body
    assert pair.question == SubQuestion.objects.get(pk=pair.question_id).body
    assert pair.request == "Why?"


def test_replies_may_come_in_any_order(run):
    def backwards(pairs):
        yield from (graded(pair) for pair in list(pairs)[::-1])

    pump(run, Grader(backwards), WORKER, batch=7)
    assert is_whole(run)


@pytest.mark.parametrize("fault", ["unknown", "twice"])
def test_reply_that_nobody_asked_for_is_the_graders_error(run, fault):
    def wrong(pairs):
        for index, pair in enumerate(pairs):
            yield graded(pair)
            if index == 20:
                foreign = type(pair)(10**6, 1, "", "")
                yield graded(foreign if fault == "unknown" else pair)

    with pytest.raises(BackendError, match="a second reply, or one to a pair"):
        pump(run, Grader(wrong), WORKER)
    assert len(counted(run.judge)) == 21
    assert nothing_is_lent(run)
    go_on(run)


def test_pair_without_a_reply_leaves_its_shard_open_and_is_the_graders_error(run):
    def silent(pairs):
        yield from (graded(pair) for index, pair in enumerate(pairs) if index != 60)

    with pytest.raises(BackendError, match="no reply to 1 pair"):
        pump(run, Grader(silent), WORKER)
    assert len(counted(run.judge)) == 199
    assert run.shards.filter(state="done").count() == 3
    assert run.shards.filter(state="open").count() == 1
    go_on(run)


@pytest.fixture
def clock(monkeypatch):
    """The clock of the pump."""
    clock = FakeClock()
    monkeypatch.setattr(fill, "time", clock)
    return clock


def test_slow_grader_keeps_its_leases(run, settings, clock):
    leases_alive = []

    def slow(pairs):
        for index, pair in enumerate(pairs):
            if index == 10:
                run.shards.filter(state="leased").update(expires="2020-01-01T00:00Z")
                clock.advance(settings.JUDGE_LEASE_SECONDS)
                yield None
                leases_alive.append(leases.leased(run).count())
            yield graded(pair)

    pump(run, Grader(slow), WORKER)
    assert leases_alive == [1]
    assert is_whole(run)


def test_shard_whose_lease_was_lost_is_asked_no_further(run, settings, clock):
    requests = []

    def overtaken(pairs):
        for index, pair in enumerate(pairs):
            requests.append(key(pair))
            if index == 10:
                shard = run.shards.get(state="leased")
                run.shards.filter(pk=shard.pk).update(owner="other:1", expires="2100-01-01T00:00Z")
                run.shards.exclude(pk=shard.pk).update(state="done", owner="x", expires=None)
                clock.advance(settings.JUDGE_LEASE_SECONDS)
                yield None
            yield graded(pair)

    pump(run, Grader(overtaken), WORKER)
    assert len(requests) == 11
    assert len(counted(run.judge)) == 11
    assert run.shards.get(owner="other:1").state == "leased"


def test_shard_that_comes_back_while_its_pairs_are_in_flight_is_not_asked_twice(
    run, settings, clock
):
    requests = []

    def away(pairs):
        pending = []
        for pair in pairs:
            requests.append(key(pair))
            pending.append(pair)
            if len(requests) == 10:
                run.shards.filter(state="leased").update(state="open", owner="", expires=None)
                clock.advance(settings.JUDGE_LEASE_SECONDS)
                yield None
        yield from map(graded, pending)

    pump(run, Grader(away), WORKER)
    assert len(requests) == len(set(requests)) == 200
    assert is_whole(run)


def test_replies_of_a_dead_worker_are_not_asked_again(run):
    with pytest.raises(KeyboardInterrupt):
        pump(run, Scripted(interrupting(20)), "dead:1")
    run.shards.filter(number=1).update(
        state="leased", owner="dead:1", expires="2020-01-01T00:00:00Z"
    )
    grader = Scripted()
    pump(run, grader, WORKER)
    assert len(grader.asked) == 180
    assert is_whole(run)


def test_deleted_pairs_are_not_asked(run):
    Text.objects.first().delete()
    SubQuestion.objects.last().delete()
    grader = Scripted()
    pump(run, grader, WORKER)
    assert len(grader.asked) == 180
    assert counted(run.judge).keys() == all_pairs(run.dataset)
    assert fresh(run).state == "finished"


def test_retry_asks_failures_once_and_they_may_fail_again(run):
    pump(run, Scripted(lambda p: failed(p) if p.question_id % 2 else graded(p)), WORKER)
    retry = planned(run.judge, run.dataset, Selection(retry=True))
    with pytest.raises(KeyboardInterrupt):
        pump(retry, Scripted(interrupting(30)), WORKER)
    grader = Scripted(failed)
    pump(fresh(retry), grader, WORKER)
    assert len(grader.asked) == 70
    assert fresh(retry).state == "finished"
    states = [state for state, _ in counted(run.judge).values()]
    assert (states.count("graded"), states.count("unparseable")) == (130, 70)
    assert Attempt.objects.filter(counts=False).count() == 100
    assert agrees(run.judge)


def test_replies_hold_for_all_texts_of_the_same_words(db):
    study = make_study()
    for text in Text.objects.filter(name__endswith=":0"):
        add_text(text.topic, f"{text.name}-twin", text.body)
    run = planned(a_judge(), study)
    pump(run, Scripted(), WORKER)
    assert is_whole(run)
    assert Attempt.objects.filter(copied=True).count() == 8


@pytest.mark.django_db(transaction=True)
def test_workers_share_a_run(run):
    graders = [Scripted(at_once=3) for _ in range(5)]
    in_threads(lambda n: pump(fresh(run), graders[n], f"w:{n}", batch=10), range(5), threads=5)
    requests = [key(pair) for grader in graders for pair in grader.asked]
    assert len(requests) == len(set(requests)) == 200
    assert fresh(run).state == "finished"
    assert is_whole(run)
