"""Start, resumption and end of a judge run; see `states` for the states of any run."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Sum
from django.db.models.functions import Now

from annotation.models import Dataset, User
from judging.engine.budget import Prices, prices_of
from judging.engine.charges import budget_for
from judging.engine.selection import Selection
from judging.execution import limits
from judging.execution.leases import any_unfinished
from judging.execution.states import RunStateError, State, check, move, over_budget
from judging.models import Judge, JudgeRun

MAXIMA = {
    "max_pairs": limits.MAX_PAIRS,
    "reply_seconds": limits.MAX_REPLY_SECONDS,
}  # as in states.MAXIMA


def start(
    judge: Judge,
    dataset: Dataset,
    selection: Selection,
    *,
    created_by: User | None = None,
    **options: Any,
) -> JudgeRun:
    """Create a run in planning.

    `options` are fields of JudgeRun: endpoint, concurrency, budget. Raises SelectionError for a
    selection that names what is not there. Raises RunStateError for a number or an address that cannot be,
    for a budget of money without prices, and while another run of this judge on this dataset is open,
    since both would ask for the same pairs. A run on a server of the dataset's project is charged to
    the project's budget, and refused where that is used up.
    """
    selection.check(dataset)
    if judge.rater.dataset_id not in (None, dataset.pk):
        raise RunStateError(f"The judge {judge} belongs to the dataset {judge.rater.dataset}.")
    if judge.archived:
        raise RunStateError(f"The judge {judge} is archived: restore it to the list first.")
    run = JudgeRun(
        judge=judge,
        dataset=dataset,
        selection=selection.as_json(),
        created_by=created_by,
        **options,
    )
    run.price_in, run.price_out, run.currency = prices_of(
        run.endpoint, run.price_in, run.price_out, run.currency
    )
    check(run, MAXIMA)
    try:
        with transaction.atomic():
            run.project_budget = budget_for(run)
            run.save()
            return run
    except IntegrityError:
        raise RunStateError(_still_open(run)) from None


def open_run(judge: Judge, dataset: Dataset, test: str = "") -> JudgeRun | None:
    """Return the open run of a judge on a dataset; with `test` that of the test."""
    open_runs = JudgeRun.objects.filter(state__in=JudgeRun.OPEN)
    return open_runs.filter(judge=judge, dataset=dataset, test=test).first()


def _still_open(run: JudgeRun) -> str:
    current = open_run(run.judge, run.dataset, run.test)
    if current is None:
        return (
            f"A judge run of {run.judge} on {run.dataset.slug} was open until just now: try again."
        )
    purpose = (
        f"it is the test “{current.get_test_display()}”"
        if current.test
        else f"it grades {Selection.from_json(current.selection).describe()}"
    )
    return (
        f"Judge run {current.pk} of {run.judge} on {run.dataset.slug} is still open; {purpose}. "
        f"Resume or cancel it first: under Judge runs, "
        f"or with manage.py judge {run.dataset.slug} --cancel {current.pk}."
    )


def resume(run: JudgeRun, **budget: Any) -> None:
    """Resume a run, with a new budget or endpoint if given (fields of JudgeRun).

    Another endpoint has other prices: those given with it, or those of JUDGE_PRICES. Raises RunStateError
    for a run that is not stopped, for one whose budget is spent or cannot be, and while another run of
    its judge is open.
    """
    before = run.state
    if not run.is_resumable:
        raise RunStateError(
            f"{run.display_name} is {run.get_state_display()}, so it cannot be resumed."
        )
    if budget.get("endpoint", run.endpoint) != run.endpoint:
        prices = {name: budget[name] for name in Prices._fields if name in budget}
        budget |= prices_of(budget["endpoint"], **prices)._asdict()
    for name, value in budget.items():
        setattr(run, name, value)
    check(run, MAXIMA)
    # Not whether it has shards: a run that was cancelled while it was planned has some.
    planned = run.started is not None
    try:
        with transaction.atomic():
            budget["project_budget"] = budget_for(run)
            if reason := over_budget(run):
                raise RunStateError(f"{reason} Set a larger budget to continue.")
            move(
                run,
                (State(before),),
                State.RUNNING if planned else State.PLANNING,
                "",
                ended=None,
                planning_until=None,
                put_aside={},
                current_concurrency=None,
                **budget,
            )
    except IntegrityError:
        raise RunStateError(_still_open(run)) from None


def note_concurrency(run: JudgeRun, limit: int) -> None:
    """Store the current concurrency of a run's servers, for everybody who looks at it."""
    JudgeRun.objects.filter(pk=run.pk).update(current_concurrency=limit)


def n_done(run: JudgeRun) -> int:
    """Count the pairs of this run that have a reply."""
    return int(run.batches.aggregate(n=Sum("n_attempts", default=0))["n"])


def finish_if_done(run: JudgeRun) -> None:
    """Set a running run finished once no shard is left.

    Pairs that another run has asked about since this one was planned were there before it, in the end.
    Those of a test that were edited since are left out of it.
    """
    run.refresh_from_db()
    if not run.is_running or any_unfinished(run):
        return
    n_elsewhere = max(0, run.n_planned - n_done(run))
    fate = "edited since, or" if run.test else "judged by another run, or"
    verb = f"was {fate} is" if n_elsewhere == 1 else f"were {fate} are"
    JudgeRun.objects.filter(pk=run.pk, state=State.RUNNING).update(
        state=State.FINISHED,
        note=f"{n_elsewhere:,} of its pairs {verb} gone." if n_elsewhere else "",
        n_planned=F("n_planned") - n_elsewhere,
        n_there_before=F("n_there_before") + (0 if run.test else n_elsewhere),
        ended=Now(),
    )
    run.refresh_from_db()
