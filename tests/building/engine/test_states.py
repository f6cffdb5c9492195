"""Paused, resumed, cancelled and over-budget runs: no order lost or asked twice."""

from datetime import timedelta

import pytest
from django.utils import timezone

from building.engine import writings
from building.engine.choosing import backend_of, baseline_of
from building.engine.fill import fill, pump
from building.engine.generation_spec import GenerationSpec, NothingToWriteError
from building.models import Writing
from judging.execution import leases, states
from tests.toolbox.generation_runs import (
    a_writer,
    drafts,
    make_collection,
    products,
    questions,
    started,
)
from tests.toolbox.scripted_server import reply_with

pytestmark = pytest.mark.django_db
NAMES = "abcdef"


@pytest.fixture
def answering(server):
    for number, name in enumerate(NAMES):
        server.script(name, reply_with(questions(number, 100 + number)))
    return server


def begun(server, **options):
    """A writing of two questions for each of six topics, one message at a time."""
    options.setdefault("concurrency", 1)
    return started(a_writer(), make_collection(*NAMES), server, {"n": 2}, **options)


def state(run):
    run.refresh_from_db()
    return run.state


def stopped_after(run, n, act):
    """Fill a writing, and do this to it as soon as it has so many drafts."""
    pump_until = iter(range(1, 100))

    def on_draft(draft):
        if next(pump_until) == n:
            act(Writing.objects.get(pk=run.pk))

    fill(run, on_draft)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch):
    monkeypatch.setattr("building.engine.fill.SECONDS", 0)


def test_paused_writing_asks_no_more_and_goes_on_where_it_was(answering):
    run = begun(answering)
    stopped_after(run, 2, states.pause)
    assert state(run) == "paused"
    n = len(drafts(run))
    # What was in flight is kept: the one that was asked for while the second came.
    assert n in (2, 3)
    assert run.orders.filter(state="leased").count() == 0
    with pytest.raises(
        states.RunStateError, match=f"Generation run {run.pk} of writer is still open"
    ):
        started(run.writer, run.dataset, answering, {"n": 2})
    writings.resume(run)
    fill(run)
    assert state(run) == "finished"
    assert answering.asked == dict.fromkeys(NAMES, 1)
    assert len(products(run)) == 12


def test_cancelled_writing_leaves_the_rest_to_the_next(answering):
    run = begun(answering)
    stopped_after(run, 2, states.cancel)
    assert state(run) == "cancelled"
    n = len(drafts(run))
    second = started(run.writer, run.dataset, answering, {"n": 2}, concurrency=1)
    assert (second.n_planned, second.n_there_before) == (6 - n, n)
    assert run.orders.count() == n
    fill(second)
    assert answering.asked == dict.fromkeys(NAMES, 1)
    # The first has nothing left to do, and says so.
    writings.resume(run)
    fill(run)
    progress = writings.progress_of(run)
    assert (progress["state"], progress["done"], progress["planned"]) == ("finished", n, n)
    assert answering.asked == dict.fromkeys(NAMES, 1)


def test_cancelled_writing_goes_on_where_no_other_has_taken_over(answering):
    run = begun(answering)
    stopped_after(run, 2, states.cancel)
    writings.resume(run)
    fill(run)
    assert state(run) == "finished"
    assert answering.asked == dict.fromkeys(NAMES, 1)


def test_leased_order_of_a_cancelled_run_is_not_taken_over(answering):
    run = begun(answering)
    leased = leases.take(run, "elsewhere:1")
    states.cancel(run)
    second = started(run.writer, run.dataset, answering, {"n": 2})
    assert (second.n_planned, second.n_there_before) == (5, 1)
    states.cancel(second)
    run.orders.filter(pk=leased.pk).update(expires=timezone.now() - timedelta(seconds=1))
    third = started(run.writer, run.dataset, answering, {"n": 2})
    assert (third.n_planned, third.n_there_before) == (6, 0)


def test_cancelling_and_starting_again_while_nothing_was_asked(answering):
    run = begun(answering)
    states.cancel(run)
    second = started(run.writer, run.dataset, answering, {"n": 2})
    assert second.n_planned == 6
    with pytest.raises(
        states.RunStateError, match=f"Generation run {second.pk} of writer is still open"
    ):
        writings.resume(run)
    assert state(run) == "cancelled"


def test_budget_of_messages_is_kept_to_the_message(answering):
    run = begun(answering, max_messages=4, concurrency=3)
    fill(run)
    assert state(run) == "stopped"
    assert run.note == "The budget of 4 messages is spent."
    assert sum(answering.asked.values()) == len(drafts(run)) == 4
    with pytest.raises(states.RunStateError, match="Set a larger budget"):
        writings.resume(run)
    writings.resume(run, max_messages=6)
    fill(run)
    assert state(run) == "finished"
    assert answering.asked == dict.fromkeys(NAMES, 1)


def test_budget_of_tokens_stops_it(answering):
    # Each message takes 41 tokens, as the server says: after the second 82 are spent.
    run = begun(answering, max_tokens=80)
    fill(run)
    assert state(run) == "stopped"
    assert run.note == "The budget of 80 tokens is spent."
    assert len(drafts(run)) in (2, 3)
    assert set(run.orders.values_list("state", flat=True)) == {"done", "open"}


def test_budget_of_money_needs_a_price_and_stops_it(answering):
    with pytest.raises(states.RunStateError, match="needs prices"):
        begun(answering, max_money=1)
    writer, dataset = a_writer("questions", "w", revision="w"), make_collection(*NAMES, slug="two")
    # 40 tokens read at 1 a token, and 1 written at 2.
    run = started(
        writer,
        dataset,
        answering,
        {"n": 2},
        max_money=83,
        price_in=1e6,
        price_out=2e6,
        concurrency=1,
    )
    fill(run)
    assert state(run) == "stopped"
    assert writings.progress_of(run)["money"] in (84, 126)


def test_budget_that_is_enough_to_the_message_is_no_reason_to_stop(answering):
    run = begun(answering, max_messages=6)
    fill(run)
    assert state(run) == "finished"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": 0}, "The concurrency of a run is more than 0"),
        ({"max_messages": 0}, "The max messages of a run"),
        ({"max_tokens": -1}, "The max tokens of a run"),
        ({"max_money": float("nan"), "price_in": 1}, "The max money of a run"),
        ({"price_in": -1}, "A price must be 0 or more"),
        ({"endpoint": "http://me:pw@host/v1"}, "must not hold a name or a password"),
        ({"endpoint": "http://h/" + "x" * 300}, "longer than 250"),
    ],
)
def test_invalid_run_options_are_refused_and_store_nothing(options, message):
    with pytest.raises(states.RunStateError, match=message):
        started(a_writer(), make_collection(), **options)
    assert not Writing.objects.exists()


def test_steps_that_a_writing_cannot_take_are_refused():
    run = started(baseline_of("questions"), make_collection())
    with pytest.raises(states.RunStateError, match="cannot be resumed"):
        writings.resume(run)
    fill(run)
    for step in (states.pause, states.cancel, writings.resume):
        with pytest.raises(states.RunStateError, match="is finished"):
            step(run)
    assert state(run) == "finished"


def test_writing_of_nothing_is_none():
    with pytest.raises(NothingToWriteError, match="No tasks"):
        started(a_writer(), make_collection(n=0))
    assert not Writing.objects.exists()


def test_writing_of_another_writer_may_go_on_beside_it(answering):
    run = begun(answering)
    second = started(a_writer(slug="other", revision="2"), run.dataset, answering, {"n": 2})
    for writing in (run, second):
        fill(writing)
        assert state(writing) == "finished"
    assert answering.asked == dict.fromkeys(NAMES, 2)


def test_turn_ends_in_time_and_leaves_nothing_lent(answering):
    run = begun(answering)
    pump(run, backend_of(run), "here:1", seconds=-1)
    assert state(run) == "running"
    assert drafts(run) == []
    assert set(run.orders.values_list("state", flat=True)) == {"open"}


def test_ctrl_c_leaves_nothing_lent_and_nothing_lost(answering):
    run = begun(answering)

    def interrupted(draft):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(run, interrupted)
    assert len(drafts(run)) == 1
    assert set(run.orders.values_list("state", flat=True)) == {"done", "open"}
    fill(run)
    assert state(run) == "finished"
    # One was in flight, at most, when it was stopped.
    assert sum(answering.asked.values()) <= 7
    assert len(drafts(run)) == 6


def test_spec_round_trips_through_json():
    spec = GenerationSpec(("a", "b"), 3, "words:300", "bm25", "required", 100, "needed", 2)
    assert GenerationSpec.from_json(spec.as_json() | {"of_later": 1}) == spec
