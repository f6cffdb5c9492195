"""Progress, against numbers worked out by hand."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from judging.engine import progress
from judging.engine.fill import pump
from judging.engine.progress import failures_of, last_replies, progress_of
from judging.execution import leases
from judging.grading.pairs import Reply, State
from judging.llm.errors import Failure
from judging.models import Batch, JudgeRun
from tests.toolbox.judging_study import (
    WORKER,
    Scripted,
    a_judge,
    failed,
    graded,
    key,
    make_study,
    planned,
)


@pytest.fixture
def run(db):
    return planned(a_judge(), make_study(topics=2, texts=10, questions=10))


def written(run, seconds_ago: float, n: int) -> None:
    batch = Batch.objects.create(run=run, worker=WORKER, n_attempts=n, n_sent=n)
    when = timezone.now() - timedelta(seconds=seconds_ago)
    Batch.objects.filter(pk=batch.pk).update(created=when)


def test_run_that_has_not_begun(run):
    so_far = progress_of(run)
    assert (so_far.n_planned, so_far.n_done, so_far.n_left, so_far.share) == (200, 0, 200, 0.0)
    assert (so_far.rate, so_far.remaining, so_far.ends, so_far.drift) == (None, None, None, None)
    assert so_far.n_shards == {"open": 4, "leased": 0, "done": 0}
    assert (list(so_far.workers), so_far.heard, so_far.money) == ([], None, 0.0)


def test_run_for_which_nothing_was_planned_is_whole(run):
    JudgeRun.objects.filter(pk=run.pk).update(n_planned=0)
    run.refresh_from_db()
    assert progress_of(run).share == 1.0


def test_counts_tokens_money_and_drift_are_sums_of_what_was_stored(run):
    JudgeRun.objects.filter(pk=run.pk).update(price_in=2.0, price_out=10.0)
    run.refresh_from_db()

    def answer(pair):
        if pair.question_id % 10 == 0:
            return failed(pair, prompt_tokens=100)
        expected = 2.5 if pair.question_id % 2 else None
        return graded(pair, 2, expected_grade=expected, prompt_tokens=100, completion_tokens=3)

    pump(run, Scripted(answer), WORKER, batch=13)
    so_far = progress_of(run)
    assert (so_far.n_done, so_far.n_graded, so_far.n_failed, so_far.n_sent) == (200, 180, 20, 200)
    assert (so_far.prompt_tokens, so_far.completion_tokens) == (20_000, 540)
    assert so_far.money == pytest.approx(0.04 + 0.0054)
    assert so_far.drift == pytest.approx(0.5)
    assert so_far.n_shards == {"open": 0, "leased": 0, "done": 4}
    assert (so_far.rate, so_far.remaining) == (None, None)  # it is over
    assert so_far.as_json()["expected_minus_grade"] == so_far.drift


def test_rate_is_of_the_last_minute(run, fake_clock):
    for ago, n in ((100, 80), (50, 30), (5, 12)):
        written(run, ago, n)
    so_far = progress_of(run)
    assert so_far.rate == pytest.approx(42 / 60)
    assert so_far.n_left == 78
    assert so_far.remaining.total_seconds() == pytest.approx(78 / (42 / 60))
    assert so_far.ends > timezone.now()
    assert len(so_far.rates) == 24
    assert (so_far.rates[-1], so_far.rates[-6], so_far.rates[-11]) == (1.2, 3.0, 8.0)
    assert sum(so_far.rates) * progress.STEP == pytest.approx(122)


def test_rate_of_a_young_run_is_of_its_own_time(run, fake_clock):
    # The first batch says when the work began to be written; 30 pairs came in the 10 s since.
    written(run, 10, 50)
    assert progress_of(run).rate is None
    written(run, 2, 30)
    assert progress_of(run).rate == pytest.approx(3)


def test_rate_after_a_pause_is_of_the_time_since(run, fake_clock):
    for ago, n in ((200, 80), (10, 50), (2, 30)):
        written(run, ago, n)
    assert progress_of(run).rate == pytest.approx(3)


def test_after_a_minute_of_silence_there_is_no_rate(run):
    written(run, 61, 50)
    assert progress_of(run).rate is None


def test_workers_are_those_whose_lease_is_alive(run):
    leases.take(run, "alive:1")
    dead = leases.take(run, "dead:1")
    run.shards.filter(pk=dead.pk).update(expires=timezone.now() - timedelta(seconds=1))
    so_far = progress_of(run)
    assert list(so_far.workers) == ["alive:1"]
    assert [(shard.number, shard.state, shard.owner) for shard in so_far.shards][:2] == [
        (1, "leased", "alive:1"),
        (2, "leased", "dead:1"),
    ]


def test_failures_are_counted_by_kind_with_their_newest(run):
    kinds = [Failure.TIMEOUT, *[Failure.EMPTY] * 3]

    def answer(pair):
        if not kinds:
            return graded(pair)
        return Reply(pair, State.ERROR, failure=kinds.pop(0))

    grader = Scripted(answer)
    pump(run, grader, WORKER)
    failures = failures_of(run)
    assert [(kind.failure, kind.n) for kind in failures] == [("empty", 3), ("timeout", 1)]
    newest = failures[0].example
    assert (newest.text_id, newest.question_id) == key(grader.asked[3])


def test_last_replies_are_the_newest_first(run):
    grader = Scripted()
    pump(run, grader, WORKER, batch=5)
    attempts = last_replies(run, 3)
    assert [(a.text_id, a.question_id) for a in attempts] == [key(p) for p in grader.asked[:-4:-1]]


def test_progress_never_reads_attempts(run):
    pump(run, Scripted(), WORKER)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        progress_of(run)
    assert len(queries) <= 5
    assert not any("judging_attempt" in query["sql"] for query in queries)


def test_failures_are_found_by_their_index(run):
    """Without it a page of a large run would read every attempt."""
    pump(run, Scripted(lambda p: failed(p) if p.question_id % 50 == 0 else graded(p)), WORKER)
    rows = progress.Attempt.objects.filter(batch__run=run).exclude(state="graded").order_by()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        plan = rows.values("failure").explain()
    assert "failed_attempts" in plan
