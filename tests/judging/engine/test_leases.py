"""Leases: a shard is leased to one worker at a time, and free again when it is silent."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from judging.engine import runs
from judging.engine.selection import Selection
from judging.execution import leases
from judging.models import JudgeRun, Shard
from tests.toolbox.judging_study import a_judge, make_study
from tests.toolbox.threads import in_threads


@pytest.fixture
def run(db):
    run = runs.start(a_judge(), make_study(), Selection())
    JudgeRun.objects.filter(pk=run.pk).update(state="running")
    Shard.objects.bulk_create(
        Shard(run=run, number=number, groups=[], n_pairs=1) for number in (1, 2, 3)
    )
    run.refresh_from_db()
    return run


def states(run):
    return list(run.shards.order_by("number").values_list("state", "owner"))


def test_shards_are_lent_in_their_order_until_none_is_free(run):
    assert [leases.take(run, f"w:{n}").number for n in (1, 2, 3)] == [1, 2, 3]
    assert leases.take(run, "w:4") is None
    assert not leases.any_free(run)
    assert states(run) == [("leased", "w:1"), ("leased", "w:2"), ("leased", "w:3")]


@pytest.mark.parametrize("state", ["planning", "paused", "cancelled", "stopped", "finished"])
def test_of_a_run_that_does_not_go_on_nothing_is_lent(run, state):
    JudgeRun.objects.filter(pk=run.pk).update(state=state)
    assert leases.take(run, "w:1") is None


def test_lease_that_ran_out_is_free_again(run):
    assert leases.take(run, "w:1").number == 1
    assert leases.take(run, "w:2").number == 2
    run.shards.filter(number=1).update(expires=timezone.now() - timedelta(seconds=1))
    assert leases.any_free(run)
    assert leases.take(run, "w:3").number == 1


def test_lease_that_is_renewed_lasts_from_then(run):
    shard = leases.take(run, "w:1")
    run.shards.filter(pk=shard.pk).update(expires=timezone.now() - timedelta(seconds=1))
    assert leases.renew(run, [shard.pk], "w:1") == {shard.pk}
    assert leases.take(run, "w:2").number == 2


def test_lost_lease_is_reported_and_leaves_its_new_holder_alone(run):
    shard = leases.take(run, "w:1")
    Shard.objects.filter(pk=shard.pk).update(owner="w:2")
    assert leases.renew(run, [shard.pk], "w:1") == set()
    leases.give_back(run, [shard.pk], "w:1")
    assert states(run)[0] == ("leased", "w:2")


def test_released_shard_is_open_to_all(run):
    shard = leases.take(run, "w:1")
    leases.give_back(run, [shard.pk], "w:1")
    assert states(run)[0] == ("open", "")
    assert leases.take(run, "w:2").pk == shard.pk


def test_shard_that_is_done_stays_done(run):
    shard = leases.take(run, "w:1")
    leases.finish(run, shard.pk, "w:1")
    leases.finish(run, shard.pk, "w:2")
    leases.give_back(run, [shard.pk], "w:1")
    assert states(run)[0] == ("done", "w:1")
    assert leases.take(run, "w:3").number == 2


def test_end_of_a_lease_is_by_the_databases_clock(run, settings, monkeypatch):
    settings.JUDGE_LEASE_SECONDS = 60
    monkeypatch.setattr(timezone, "now", lambda: pytest.fail("asked this machine for the time"))
    before = datetime.now(UTC)
    shard = leases.take(run, "w:1")
    upper = datetime.now(UTC)
    monkeypatch.undo()
    start = Shard.objects.get(pk=shard.pk).expires - timedelta(seconds=60)
    second = timedelta(seconds=1)  # to which a database may round
    assert before - second <= start <= upper + second


def test_times_compare_right_on_whole_seconds_and_between(run):
    """Some databases keep times as words, and these leave out a fraction that is zero."""
    now = timezone.now().replace(microsecond=0)
    for expires, is_free in (
        (now - timedelta(seconds=1), True),
        (now - timedelta(seconds=1, microseconds=500), True),
        (now + timedelta(seconds=30), False),
        (now + timedelta(seconds=30, microseconds=500), False),
    ):
        run.shards.update(state="leased", owner="w:1", expires=expires)
        assert leases.any_free(run) is is_free
        assert leases.leased(run).exists() is not is_free


@pytest.mark.django_db(transaction=True)
def test_workers_that_ask_at_once_get_different_shards(run):
    Shard.objects.bulk_create(
        Shard(run=run, number=number, groups=[], n_pairs=1) for number in range(4, 41)
    )

    def take_some(worker):
        numbers = []
        while shard := leases.take(run, worker):
            numbers.append(shard.number)
        return numbers

    by_worker = in_threads(take_some, [f"w:{n}" for n in range(8)])
    assert sorted(number for numbers in by_worker for number in numbers) == list(range(1, 41))
