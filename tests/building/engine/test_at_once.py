"""Concurrency and killed workers: no duplicate orders, drafts or decisions, no losses."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Dataset, Rating, SubQuestion
from building.engine import writings
from building.engine.choosing import WriterError, baseline_of
from building.engine.cited_pairs import make_support
from building.engine.fill import _ask, pump
from building.engine.generation_spec import GenerationSpec
from building.engine.review import ReviewError, accept, open_products, reject
from building.engine.storing import store
from building.models import Draft, Product, Writer, Writing
from building.writers.base import Outcome
from building.writers.extractive_writer import ExtractiveWriter
from judging.execution import leases
from judging.execution.states import RunStateError
from tests.building.cited import PAIRS, make_cited, pairs_of
from tests.building.engine import null_worker
from tests.building.engine.null_worker import allow, sent
from tests.toolbox import worker_processes
from tests.toolbox.clock import HANGS, wait_for
from tests.toolbox.generation_runs import (
    a_writer,
    drafts,
    make_collection,
    products,
    questions,
    started,
)
from tests.toolbox.threads import in_threads

AT_ONCE = 6


def refused(act, *errors):
    """None where it was done, and else the words of the refusal."""
    try:
        act()
    except errors as error:
        return str(error)
    return None


@pytest.mark.django_db(transaction=True)
def test_concurrent_starts_create_one_run():
    dataset, writer = make_collection(), a_writer()

    def start(_):
        return refused(lambda: writings.start(writer, dataset, GenerationSpec()), RunStateError)

    refusals = in_threads(start, range(AT_ONCE), AT_ONCE)
    assert refusals.count(None) == 1
    assert all("still open" in refusal or "try again" in refusal for refusal in refusals if refusal)
    assert Writing.objects.get().orders.count() == 2


@pytest.mark.django_db(transaction=True)
def test_concurrent_creation_stores_one_writer():
    refusals = in_threads(
        lambda _: refused(lambda: a_writer(), WriterError), range(AT_ONCE), AT_ONCE
    )
    assert refusals.count(None) == 1
    keys = in_threads(lambda _: baseline_of("questions").pk, range(AT_ONCE), AT_ONCE)
    assert len(set(keys)) == 1
    assert Writer.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_write_each_thing_once():
    dataset = make_collection(*(f"t{number}" for number in range(20)))
    run = started(baseline_of("questions"), dataset)

    def work(number):
        writing = Writing.objects.select_related("writer", "dataset").get(pk=run.pk)
        pump(writing, ExtractiveWriter(), f"worker:{number}")

    in_threads(work, range(4), 4)
    run.refresh_from_db()
    assert run.state == "finished"
    assert drafts(run) == [(f"t{number}", 1, "") for number in range(20)]


@pytest.mark.django_db(transaction=True)
def test_concurrent_decisions_store_one():
    dataset = make_collection("a")
    run = started(baseline_of("questions"), dataset, spec={"n": 3})
    pump(run, ExtractiveWriter(), "here:1")
    first, second, third = open_products(run)

    def decide(number):
        act = reject if number % 2 else accept
        return refused(lambda: act(Product.objects.get(pk=first.pk), None), ReviewError)

    refusals = in_threads(decide, range(AT_ONCE), AT_ONCE)
    assert refusals.count(None) == 1
    assert SubQuestion.objects.count() == Product.objects.filter(decision="accepted").count()

    # Two different questions want the same place, and whoever comes second may have to try again.
    refusals = in_threads(
        lambda product: refused(lambda: accept(product, None), ReviewError), [second, third], 2
    )
    assert refusals.count(None) >= 1
    positions = SubQuestion.objects.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(len(positions)))


@pytest.mark.django_db
def test_of_two_replies_to_one_order_the_first_counts():
    dataset = make_collection("a")
    run = started(a_writer(), dataset, spec={"n": 2})
    slow = leases.take(run, "slow:1")
    run.orders.update(expires=timezone.now() - timedelta(seconds=1))
    quick = leases.take(run, "quick:1")
    assert slow.pk == quick.pk
    of_slow, of_quick = _ask(run, slow), _ask(run, quick)
    assert store(Outcome(of_quick, raw=questions(1, 2), finish_reason="stop"), "quick:1")
    late = store(Outcome(of_slow, raw=questions(3, 4), completion_tokens=7), "slow:1")
    assert not late.counts
    assert Draft.objects.get(counts=True).worker == "quick:1"
    assert run.spending().completion_tokens == 7
    assert len(products(run)) == 2
    order = run.orders.get()
    assert (order.state, order.owner) == ("done", "quick:1")


@pytest.mark.django_db
def test_late_reply_counts_where_nobody_else_has_replied():
    dataset = make_collection("a")
    run = started(a_writer(), dataset, spec={"n": 2})
    ask = _ask(run, leases.take(run, "slow:1"))
    run.orders.update(expires=timezone.now() - timedelta(seconds=1))
    assert store(Outcome(ask, raw=questions(1, 2), finish_reason="stop"), "slow:1")
    assert run.orders.get().state == "done"


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_killed_worker_loses_what_it_held_until_its_leases_run_out(tmp_path):
    names = [f"t{number}" for number in range(60)]
    run = started(a_writer(), make_collection(*names), spec={"n": 2})
    allow(tmp_path, 12)
    work = null_worker.main, run.pk, tmp_path, 8
    first, second = (worker_processes.start(*work, JUDGE_LEASE_SECONDS=2) for _ in range(2))
    try:
        sent_file = tmp_path / f"{first.pid}.sent"
        wait_for(lambda: len(sent(tmp_path)) >= 14 and sent_file.exists())
        first.kill()
        first.join()
        allow(tmp_path, 1_000)
        second.join(HANGS)
    finally:
        for process in (first, second):
            process.kill()
            process.join()
    assert second.exitcode == 0
    run.refresh_from_db()
    assert run.state == "finished"
    assert drafts(run) == [(name, 1, "") for name in names]
    assert len(products(run)) == 120
    counts = Counter(sent(tmp_path))
    assert set(counts) == set(run.orders.values_list("pk", flat=True))
    # Twice asked was at most what the killed one held.
    assert sum(counts.values()) - 60 <= 8


@pytest.mark.django_db(transaction=True)
def test_citations_that_several_take_at_once_are_taken_once():
    rain = make_cited()
    summaries = in_threads(
        lambda _: make_support(rain, ["s.one"], "rain-citations"), range(AT_ONCE), AT_ONCE
    )
    assert sum(summary.added for summary in summaries) == len(PAIRS)
    assert pairs_of(Dataset.objects.get(slug="rain-citations")) == PAIRS
    assert Rating.objects.count() == len(PAIRS)
