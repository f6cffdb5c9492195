"""A judge run from its start to its end, and going on with it; its other states are those of any run."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Sum
from django.db.models.functions import Now

from annotation.models import Dataset, User
from judging.engine import budget
from judging.engine.budget import Prices, prices_of
from judging.engine.endpoints import endpoint_named, is_of_project
from judging.engine.leases import any_left
from judging.engine.selection import Selection
from judging.engine.states import RunRefused, State, check, move, over_budget
from judging.models import Judge, JudgeRun, ProjectBudget

MOST = {"max_pairs": budget.PAIRS, "reply_seconds": budget.REPLY_SECONDS}  # as in states.MOST


def start(
    judge: Judge,
    dataset: Dataset,
    selection: Selection,
    *,
    created_by: User | None = None,
    **options: Any,
) -> JudgeRun:
    """A new run in planning. `options` are fields of JudgeRun: endpoint, concurrency, budget.

    Raises SelectionError for a selection that names what is not there. Raises RunRefused for a number
    or an address that cannot be, for a budget of money without prices, and while another run of this
    judge on this dataset is open, since both would ask for the same pairs. A run on a server of the dataset's
    project is charged to the project's budget, and refused where that is used up.
    """
    selection.check(dataset)
    if judge.rater.dataset_id not in (None, dataset.pk):
        raise RunRefused(f"The judge {judge} belongs to the dataset {judge.rater.dataset}.")
    if judge.archived:
        raise RunRefused(f"The judge {judge} is archived: restore it to the list first.")
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
    check(run, MOST)
    try:
        with transaction.atomic():
            if is_of_project(run.endpoint):
                run.project_budget = _open_budget(run)
            run.save()
            return run
    except IntegrityError:
        raise RunRefused(_still_open(run)) from None


def _open_budget(run: JudgeRun) -> ProjectBudget:
    """The budget that a run on a project's server is charged to, locked. Raises RunRefused."""
    project = run.dataset.project
    server = endpoint_named(run.endpoint)
    if server is None or server.project_id != project.pk:
        raise RunRefused(f"{project} has no server {run.endpoint}: choose one of this project.")
    budget = ProjectBudget.objects.select_for_update().filter(project=project).first()
    why = budget.exhausted() if budget else ProjectBudget(project=project).exhausted()
    if budget is None or why:
        raise RunRefused(f"{why} An admin of the site can set one on the page of its servers.")
    if budget.max_money is not None and not server.has_price:
        raise RunRefused(
            f"The budget of {project} limits money, and {server.name} has no price: enter one at the server."
        )
    if budget.max_money is not None and server.currency != budget.currency:
        raise RunRefused(
            f"The budget of {project} is in {budget.currency or 'no currency'}, and the price of {server.name} "
            f"in {server.currency or 'no currency'}: both must be the same."
        )
    return budget


def open_run(judge: Judge, dataset: Dataset) -> JudgeRun | None:
    return JudgeRun.objects.filter(judge=judge, dataset=dataset, state__in=JudgeRun.OPEN).first()


def _still_open(run: JudgeRun) -> str:
    there = open_run(run.judge, run.dataset)
    if there is None:
        return (
            f"A judge run of {run.judge} on {run.dataset.slug} was open until just now: try again."
        )
    return (
        f"Judge run {there.pk} of {run.judge} on {run.dataset.slug} is still open; it grades "
        f"{Selection.from_json(there.selection).describe()}. Resume or cancel it first: under Judge runs, "
        f"or with manage.py judge {run.dataset.slug} --cancel {there.pk}."
    )


def resume(run: JudgeRun, **budget: Any) -> None:
    """Let workers go on, with a new budget or endpoint where one is given (fields of JudgeRun).

    Another endpoint has other prices: those given with it, or those of JUDGE_PRICES. Raises RunRefused
    for a run that is not stopped, for one whose budget is spent or cannot be, and while another run of
    its judge is open.
    """
    before = run.state
    if not run.is_resumable:
        raise RunRefused(f"{run.called} is {run.get_state_display()}: nothing to resume.")
    if budget.get("endpoint", run.endpoint) != run.endpoint:
        prices = {name: budget[name] for name in Prices._fields if name in budget}
        budget |= prices_of(budget["endpoint"], **prices)._asdict()
        if not is_of_project(budget["endpoint"]):
            budget["project_budget"] = None
    for name, value in budget.items():
        setattr(run, name, value)
    check(run, MOST)
    # Not whether it has shards: a run that was cancelled while it was planned has some.
    planned = run.started is not None
    try:
        with transaction.atomic():
            if is_of_project(run.endpoint):
                budget["project_budget"] = _open_budget(run)
            if reason := over_budget(run):
                raise RunRefused(f"{reason} Give it a larger one to go on.")
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
        raise RunRefused(_still_open(run)) from None


def note_concurrency(run: JudgeRun, limit: int) -> None:
    """Write down how many requests at once the servers of a run take now, for everybody who looks at it."""
    JudgeRun.objects.filter(pk=run.pk).update(current_concurrency=limit)


def n_done(run: JudgeRun) -> int:
    """Pairs of this run that have a reply."""
    return int(run.batches.aggregate(n=Sum("n_attempts", default=0))["n"])


def finish_if_done(run: JudgeRun) -> None:
    """Set a running run finished once no shard is left.

    Pairs that another run has asked about since this one was planned were there before it, in the end.
    """
    run.refresh_from_db()
    if not run.is_running or any_left(run):
        return
    others = max(0, run.n_planned - n_done(run))
    what = (
        "was judged by another run, or is" if others == 1 else "were judged by another run, or are"
    )
    JudgeRun.objects.filter(pk=run.pk, state=State.RUNNING).update(
        state=State.FINISHED,
        note=f"{others:,} of its pairs {what} gone." if others else "",
        n_planned=F("n_planned") - others,
        n_there_before=F("n_there_before") + others,
        ended=Now(),
    )
    run.refresh_from_db()
