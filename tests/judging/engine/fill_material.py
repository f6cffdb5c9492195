"""Helpers of the pump's tests: counts and states of a run."""

from judging.engine import runs
from judging.engine.fill import pump
from judging.models import JudgeRun, Shard
from tests.toolbox.judging_study import Scripted, agrees, all_pairs, counted, graded


def fresh(run) -> JudgeRun:
    return JudgeRun.objects.get(pk=run.pk)


def is_whole(run) -> bool:
    """Each pair with one attempt, and its rating; all shards done; the batches add up."""
    return (
        counted(run.judge).keys() == all_pairs(run.dataset)
        and agrees(run.judge)
        and set(run.shards.values_list("state", flat=True)) == {"done"}
        and sum(run.batches.values_list("n_attempts", flat=True)) == run.n_planned
    )


def nothing_is_lent(run) -> bool:
    return not run.shards.filter(state=Shard.State.LEASED).exists()


def go_on(run):
    """Another worker, to the end."""
    run = fresh(run)
    if run.is_resumable:
        runs.resume(run)
    pump(run, Scripted(), "later:1")
    run = fresh(run)
    assert run.state == "finished"
    assert is_whole(run)


def interrupting(limit):
    n = 0

    def answer(pair):
        nonlocal n
        n += 1
        if n > limit:
            raise KeyboardInterrupt
        return graded(pair)

    return answer
