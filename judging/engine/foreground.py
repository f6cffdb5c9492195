"""A run from start to end in one process, for the command and the demo."""

from __future__ import annotations

import time
from collections.abc import Callable

from annotation.models import Dataset
from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.grader_choice import grader_of
from judging.engine.judges import SLUG, baseline_of
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.execution import states
from judging.execution.leases import any_free, worker_name
from judging.models import Batch, JudgeRun


def fill(run: JudgeRun, on_batch: Callable[[Batch], None] | None = None) -> None:
    """Plan a run if necessary, and work on it beside other workers until it stops.

    Shards that others hold are waited for, in case their holders have died. Raises BackendError where
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


def fill_lexical(dataset: Dataset, texts: str = "", slug: str = SLUG) -> JudgeRun:
    """Grade the pairs that a baseline lacks, of one kind of texts or of all.

    `slug` is one of BASELINES.
    """
    judge, _ = baseline_of(dataset, slug)
    run = runs.open_run(judge, dataset) or runs.start(judge, dataset, Selection(texts=texts))
    if run.is_resumable:
        runs.resume(run)
    fill(run)
    return run
