"""A run from beginning to end in one process: what the command does, and the demo."""

from __future__ import annotations

import time
from collections.abc import Callable

from annotation.models import Dataset
from judging.engine import runs, states
from judging.engine.choosing import grader_of
from judging.engine.fill import pump
from judging.engine.judges import SLUG, baseline_of
from judging.engine.leases import any_free, worker_name
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.models import Batch, JudgeRun


def fill(run: JudgeRun, on_batch: Callable[[Batch], None] | None = None) -> None:
    """Plan a run if that is to do, and work on it, beside whoever else does, until it stands still.

    Shards that others hold are waited for, in case their holders have died. Raises GraderError where
    this process cannot go on; the run then says why.
    """
    worker = worker_name()
    with states.giving_up(run, worker):
        if run.state == JudgeRun.State.PLANNING:
            plan(run, worker)
        if not run.is_running:
            return
        grader, batch = grader_of(run)
        while run.is_running:
            pump(run, grader, worker, batch=batch, on_batch=on_batch)
            while run.is_running and not any_free(run):
                time.sleep(1)
                runs.finish_if_done(run)


def fill_lexical(dataset: Dataset, texts: str = "", called: str = SLUG) -> JudgeRun:
    """Let a baseline, one of BASELINES, grade the pairs that it lacks, of one kind of texts or of all."""
    judge, _ = baseline_of(dataset, called)
    run = runs.open_run(judge, dataset) or runs.start(judge, dataset, Selection(texts=texts))
    if run.is_resumable:
        runs.resume(run)
    fill(run)
    return run
