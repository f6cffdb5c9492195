"""The states of a judge run: started, paused, cancelled, resumed, stopped at its budget, finished.

Each step is one conditional UPDATE, so that two people, or a person and a worker, cannot undo each
other unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import F, Sum
from django.db.models.functions import Now

from annotation.models import Dataset, User
from judging.engine import budget
from judging.engine.budget import Prices, prices_of
from judging.engine.leases import held
from judging.engine.planning import PlannedElsewhere
from judging.engine.selection import Selection
from judging.graders.base import GraderError
from judging.graders.openai_server import check_address
from judging.models import Judge, JudgeRun, Shard
from judging.models.run import PARTED_BY

State = JudgeRun.State
MOST = {  # that a run may be told; each is more than 0
    "concurrency": budget.CONCURRENCY,
    "workers": budget.WORKERS,
    "max_pairs": budget.PAIRS,
    "max_tokens": budget.TOKENS,
    "max_money": budget.MONEY,
}


class RunRefused(ValueError):
    """A step that this run cannot take now; the message can be shown to a person."""


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
    judge on this dataset is open, since both would ask for the same pairs.
    """
    selection.check(dataset)
    if judge.rater.dataset_id not in (None, dataset.pk):
        raise RunRefused(f"The judge {judge} belongs to the dataset {judge.rater.dataset}.")
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
    _check(run)
    try:
        with transaction.atomic():
            run.save()
            return run
    except IntegrityError:
        raise RunRefused(_still_open(run)) from None


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


def pause(run: JudgeRun, note: str = "") -> None:
    """Let no worker take another pair; what is in flight is finished. Raises RunRefused."""
    _move(run, (State.RUNNING,), State.PAUSED, note)


def cancel(run: JudgeRun) -> None:
    """End a run; all grades so far stay, and it can still be resumed. Raises RunRefused."""
    _move(run, (State.PLANNING, State.RUNNING, State.PAUSED), State.CANCELLED, "", ended=Now())


def resume(run: JudgeRun, **budget: Any) -> None:
    """Let workers go on, with a new budget or endpoint where one is given (fields of JudgeRun).

    Another endpoint has other prices: those given with it, or those of JUDGE_PRICES. Raises RunRefused
    for a run that is not stopped, for one whose budget is spent or cannot be, and while another run of
    its judge is open.
    """
    before = run.state
    if not run.is_resumable:
        raise RunRefused(f"Judge run {run.pk} is {run.get_state_display()}: nothing to resume.")
    if budget.get("endpoint", run.endpoint) != run.endpoint:
        prices = {name: budget[name] for name in Prices._fields if name in budget}
        budget |= prices_of(budget["endpoint"], **prices)._asdict()
    for name, value in budget.items():
        setattr(run, name, value)
    _check(run)
    if reason := over_budget(run):
        raise RunRefused(f"{reason} Give it a larger one to go on.")
    # Not whether it has shards: a run that was cancelled while it was planned has some.
    planned = run.started is not None
    try:
        with transaction.atomic():
            _move(
                run,
                (JudgeRun.State(before),),
                State.RUNNING if planned else State.PLANNING,
                "",
                ended=None,
                planning_until=None,
                put_aside={},
                **budget,
            )
    except IntegrityError:
        raise RunRefused(_still_open(run)) from None


def _move(
    run: JudgeRun, from_states: tuple[State, ...], to: State, note: str, **fields: Any
) -> None:
    moved = JudgeRun.objects.filter(pk=run.pk, state__in=from_states).update(
        state=to, note=note[:500], **fields
    )
    run.refresh_from_db()
    if not moved:
        raise RunRefused(
            f"Judge run {run.pk} is {run.get_state_display()}: it cannot be {to.label}."
        )


def _check(run: JudgeRun) -> None:
    """Raises RunRefused for what no form has looked at: a command's numbers, or its address."""
    for name, most in MOST.items():
        value = getattr(run, name)
        # Put so that what is no number, which is not less than anything, is refused as well.
        if value is not None and not 0 < value <= most:
            words = name.replace("_", " ")
            raise RunRefused(f"The {words} of a run is more than 0 and at most {most:,}.")
    if not all(0 <= price <= budget.PRICE for price in (run.price_in, run.price_out)):
        raise RunRefused("A price is 0 or more, of a million tokens.")
    most = JudgeRun._meta.get_field("endpoint").max_length or 0
    if len(run.endpoint) > most:
        raise RunRefused(
            f"The addresses of the servers are longer than {most} characters: give them one name in "
            "JUDGE_ENDPOINTS."
        )
    for part in run.endpoint.split(PARTED_BY):
        if "://" in part:
            try:
                check_address(part)
            except GraderError as error:
                raise RunRefused(str(error)) from None
    if run.max_money is not None and not (run.price_in or run.price_out):
        raise RunRefused("A budget of money needs a price of tokens: without one nothing is spent.")


def put_server_aside(run: JudgeRun, url: str, why: str) -> None:
    """Write down that a worker asks a server no more, and why, for everybody who looks at the run."""
    with transaction.atomic():
        # Another worker may write down another one.
        there = JudgeRun.objects.select_for_update().get(pk=run.pk)
        run.put_aside = there.put_aside = there.put_aside | {url: why}
        there.save(update_fields=["put_aside"])


def goes_on(run: JudgeRun) -> bool:
    """Whether workers may take more pairs; a run whose budget is spent is stopped here."""
    if (reason := over_budget(run)) and _is_any_left(run):
        JudgeRun.objects.filter(pk=run.pk, state=State.RUNNING).update(
            state=State.STOPPED, note=reason, ended=Now()
        )
    run.refresh_from_db(fields=["state", "note"])
    return run.is_running


def over_budget(run: JudgeRun) -> str:
    """Which budget of a run is spent, in a sentence; "" while none is."""
    if run.max_pairs is not None and n_sent(run) >= run.max_pairs:
        return f"The budget of {run.max_pairs:,} pairs is spent."
    if run.max_tokens is None and run.max_money is None:
        return ""
    spent = run.batches.aggregate(
        prompt=Sum("prompt_tokens", default=0),
        completion=Sum("completion_tokens", default=0),
    )
    tokens = spent["prompt"] + spent["completion"]
    money = money_of(run, spent["prompt"], spent["completion"])
    if run.max_tokens is not None and tokens >= run.max_tokens:
        return f"The budget of {run.max_tokens:,} tokens is spent."
    if run.max_money is not None and money >= run.max_money:
        return f"The budget of {run.max_money:,.2f} {run.currency} is spent."
    return ""


def n_sent(run: JudgeRun) -> int:
    """Pairs of this run whose reply was paid for, whether or not another was there first."""
    return int(run.batches.aggregate(n=Sum("n_sent", default=0))["n"])


def n_done(run: JudgeRun) -> int:
    """Pairs of this run that have a reply."""
    return int(run.batches.aggregate(n=Sum("n_attempts", default=0))["n"])


def money_of(run: JudgeRun, prompt_tokens: int, completion_tokens: int) -> float:
    """What tokens cost at the run's prices, which are per million."""
    return (prompt_tokens * run.price_in + completion_tokens * run.price_out) / 1_000_000


def finish_if_done(run: JudgeRun) -> None:
    """Set a running run finished once no shard is left.

    Pairs that another run has asked about since this one was planned were there before it, in the end.
    """
    run.refresh_from_db()
    if not run.is_running or _is_any_left(run):
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


def _is_any_left(run: JudgeRun) -> bool:
    return run.shards.exclude(state=Shard.State.DONE).exists()


@contextmanager
def giving_up(
    run: JudgeRun, worker: str, has_others: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Around the work of one worker: what stops it is written down in the run, and raised on.

    `has_others` says whether somebody else will work at the run who holds no lease just now.

    A database that does not answer is no reason to pause a run, nor that another process plans it.
    """
    try:
        yield
    except (OperationalError, PlannedElsewhere):
        raise
    except GraderError as error:
        _give_up(run, worker, str(error), has_others())
        raise
    except Exception as error:
        _give_up(run, worker, f"{type(error).__name__}: {error}", has_others())
        raise


def _give_up(run: JudgeRun, worker: str, reason: str, has_others: bool) -> None:
    """A worker cannot go on. The last one to leave pauses the run, and everybody reads why."""
    JudgeRun.objects.filter(pk=run.pk, state=State.PLANNING).update(note=reason[:500])
    running = JudgeRun.objects.filter(pk=run.pk, state=State.RUNNING)
    if has_others or Shard.objects.filter(held(run)).exclude(owner=worker).exists():
        running.update(note=f"{worker} left: {reason}"[:500])
    else:
        running.update(state=State.PAUSED, note=reason[:500])
    run.refresh_from_db()
