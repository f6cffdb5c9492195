"""End of the pump by a person, a budget, its turn or an error; stored replies stay."""

import math
from types import SimpleNamespace

import pytest

from judging.engine import runs
from judging.engine.fill import pump
from judging.execution import states
from judging.grading.pairs import Reply, State
from judging.llm.errors import BackendError, BackendUnavailableError, Failure
from judging.models import Attempt, JudgeRun
from tests.judging.engine.fill_material import fresh, go_on, is_whole, nothing_is_lent
from tests.toolbox.judging_study import (
    WORKER,
    Grader,
    Scripted,
    a_judge,
    counted,
    graded,
    make_study,
    planned,
)
from tests.toolbox.threads import in_threads


@pytest.fixture
def run(db):
    """200 pairs in four shards of 50."""
    return planned(a_judge(), make_study(topics=2, texts=10, questions=10))


@pytest.fixture
def clock(monkeypatch):
    """The pump's own clock, in seconds: `clock[0] += 1`. It stands still unless it is moved."""
    moment = [0.0]
    monkeypatch.setattr("judging.engine.fill.time", SimpleNamespace(monotonic=lambda: moment[0]))
    return moment


@pytest.fixture
def batches_alone(monkeypatch):
    """A write is due when a batch is full, and never because some time has passed."""
    monkeypatch.setattr("judging.engine.fill.SECONDS", math.inf)


@pytest.mark.parametrize("step", [states.pause, states.cancel])
def test_run_that_is_stopped_takes_what_is_in_flight_and_no_more(run, step):
    requests = []

    def stopped(pairs):
        pending = []
        for pair in pairs:
            requests.append(pair)
            pending.append(pair)
            if len(requests) == 30:
                step(fresh(run))
            if len(pending) == 10:
                yield from map(graded, pending)
                pending = []
        yield from map(graded, pending)

    pump(run, Grader(stopped), WORKER, batch=10)
    assert 30 <= len(requests) <= 50
    assert len(counted(run.judge)) == len(requests)
    assert run.state in ("paused", "cancelled")
    assert nothing_is_lent(run)
    go_on(run)


@pytest.mark.parametrize("at_once", [1, 16])
def test_budget_of_pairs_is_kept_to_the_pair(run, at_once):
    JudgeRun.objects.filter(pk=run.pk).update(max_pairs=77)
    run = fresh(run)
    grader = Scripted(at_once=at_once)
    pump(run, grader, WORKER, batch=16)
    assert len(grader.asked) == len(counted(run.judge)) == 77
    assert (run.state, run.note) == ("stopped", "The budget of 77 pairs is spent.")
    assert nothing_is_lent(run)
    with pytest.raises(states.RunStateError, match="larger budget"):
        runs.resume(fresh(run))
    runs.resume(run, max_pairs=None)
    go_on(run)


@pytest.mark.parametrize(
    ("budget", "note"),
    [
        ({"max_tokens": 1_000}, "The budget of 1,000 tokens is spent."),
        (
            {"max_money": 0.5, "price_in": 1_000, "price_out": 10_000, "currency": "EUR"},
            "The budget of 0.50 EUR is spent.",
        ),
    ],
)
@pytest.mark.usefixtures("batches_alone")
def test_budget_of_tokens_or_money_stops_with_the_batch_that_spends_it(run, budget, note):
    JudgeRun.objects.filter(pk=run.pk).update(**budget)
    run = fresh(run)
    grader = Scripted(lambda p: graded(p, prompt_tokens=20, completion_tokens=1))
    pump(run, grader, WORKER, batch=10)
    # 48 pairs of 21 tokens; 17 of 0.03.
    assert len(grader.asked) == (50 if "max_tokens" in budget else 20)
    assert (run.state, run.note) == ("stopped", note)
    JudgeRun.objects.filter(pk=run.pk).update(max_tokens=None, max_money=None)
    go_on(run)


def test_budget_that_is_spent_with_the_last_pair_leaves_the_run_finished(run):
    JudgeRun.objects.filter(pk=run.pk).update(max_pairs=200)
    pump(fresh(run), Scripted(), WORKER)
    assert fresh(run).state == "finished"


@pytest.mark.django_db(transaction=True)
def test_several_workers_keep_a_budget_but_for_what_is_in_flight(run):
    JudgeRun.objects.filter(pk=run.pk).update(max_pairs=100)
    in_threads(
        lambda n: pump(fresh(run), Scripted(at_once=4), f"w:{n}", batch=4), range(4), threads=4
    )
    assert fresh(run).state == "stopped"
    assert 100 <= len(counted(run.judge)) <= 100 + 4 * 8


@pytest.mark.parametrize(
    "error", [BackendUnavailableError("It is away."), KeyboardInterrupt(), ValueError("?")]
)
def test_failing_grader_keeps_replies_and_gives_shards_back(run, error):
    def breaks(pairs):
        for index, pair in enumerate(pairs):
            if index == 77:
                raise error
            yield graded(pair)

    with pytest.raises(type(error)):
        pump(run, Grader(breaks), WORKER)
    assert len(counted(run.judge)) == 77
    assert fresh(run).state == "running"
    assert nothing_is_lent(run)
    go_on(run)


@pytest.mark.usefixtures("batches_alone")
def test_interrupt_between_two_writes_stores_nothing_twice(run):
    batches = []

    def interrupt(batch):
        batches.append(batch)
        if len(batches) == 2:
            raise KeyboardInterrupt

    def backwards(pairs):  # so that one write has replies of several shards
        yield from map(graded, list(pairs)[::-1])

    with pytest.raises(KeyboardInterrupt):
        pump(run, Grader(backwards), WORKER, batch=200, on_batch=interrupt)
    assert is_whole(run)
    assert run.spending().requests == 200


def test_turn_ends_in_time_and_gives_the_rest_back(run, clock):
    def slow(pairs):
        for pair in pairs:
            clock[0] += 0.25
            yield graded(pair)

    pump(run, Grader(slow), WORKER, seconds=7.4)
    assert len(counted(run.judge)) == 30
    assert fresh(run).state == "running"
    assert nothing_is_lent(run)
    go_on(run)


def test_turn_waits_for_what_is_in_flight(run, clock):
    def late(pairs):
        first = next(pairs)
        clock[0] += 0.2
        assert next(pairs, None) is None
        for _ in range(3):
            yield None
        yield graded(first)

    pump(run, Grader(late), WORKER, seconds=0.1)
    assert len(counted(run.judge)) == 1


def test_errors_without_an_end_stop_the_worker_and_are_kept(run, monkeypatch):
    monkeypatch.setattr("judging.engine.fill.MAX_CONSECUTIVE_ERRORS", 20)

    def refuses(pair):
        return Reply(pair, State.ERROR, failure=Failure.REQUEST, detail="No such parameter.")

    with pytest.raises(BackendError, match=r"20 replies in a row were errors.*No such parameter"):
        pump(run, Scripted(refuses), WORKER)
    assert Attempt.objects.filter(counts=True, failure="request").count() == 20
    assert nothing_is_lent(run)


@pytest.mark.parametrize("failure", [Failure.TOO_LONG, Failure.NO_TERMS])
def test_errors_that_are_the_pairs_own_stop_nobody(run, monkeypatch, failure):
    monkeypatch.setattr("judging.engine.fill.MAX_CONSECUTIVE_ERRORS", 20)
    pump(run, Scripted(lambda pair: Reply(pair, State.ERROR, failure=failure)), WORKER)
    assert fresh(run).state == "finished"


def test_grade_among_errors_resets_the_count(run, monkeypatch):
    monkeypatch.setattr("judging.engine.fill.MAX_CONSECUTIVE_ERRORS", 20)
    n = iter(range(1_000))

    def mostly_refuses(pair):
        if next(n) % 15 == 0:
            return graded(pair)
        return Reply(pair, State.ERROR, failure=Failure.SERVER, detail="500")

    pump(run, Scripted(mostly_refuses), WORKER)
    assert fresh(run).state == "finished"
