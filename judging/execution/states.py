"""States of a run: paused, cancelled, stopped at its budget, given up by its workers.

Each step is one conditional UPDATE, so that two people, or a person and a worker, cannot undo each
other unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from annotation.errors import UserError
from annotation.plurals import n_of
from judging.execution import limits
from judging.execution.leases import any_unfinished, leased
from judging.execution.models import ENDPOINT_SEPARATOR, ModelRun
from judging.llm.errors import BackendError
from judging.llm.server import check_address

State = ModelRun.State
MAXIMA = {  # that a run may be told; each is more than 0
    "concurrency": limits.MAX_CONCURRENCY,
    "workers": limits.MAX_WORKERS,
    "max_tokens": limits.MAX_TOKENS,
    "max_money": limits.MAX_MONEY,
}


class RunStateError(UserError):
    """Invalid step in the run's current state; the message can be shown to a person."""

    status = 409


class PlanningConflictError(UserError):
    """Another process plans this run, or has ended its planning."""

    status = 409


def pause(run: ModelRun, note: str = "") -> None:
    """Let no worker take another pair; what is in flight is finished. Raises RunStateError."""
    move(run, (State.RUNNING,), State.PAUSED, note)


def cancel(run: ModelRun) -> None:
    """End a run; all grades so far stay, and it can still be resumed. Raises RunStateError."""
    move(run, (State.PLANNING, State.RUNNING, State.PAUSED), State.CANCELLED, "", ended=Now())


def move(
    run: ModelRun, from_states: tuple[State, ...], to: State, note: str, **fields: Any
) -> None:
    moved = rows(run).filter(state__in=from_states).update(state=to, note=note[:500], **fields)
    run.refresh_from_db()
    if not moved:
        raise RunStateError(
            f"{run.display_name} is {run.get_state_display()}, so it cannot be {to.label}."
        )


def check(run: ModelRun, maxima: Mapping[str, int]) -> None:
    """Raises RunStateError for invalid numbers or addresses, such as a command's options.

    No form has checked them. `maxima` are limits of further fields than those in MAXIMA.
    """
    for name, maximum in {**MAXIMA, **maxima}.items():
        value = getattr(run, name)
        # Put so that what is no number, which is not less than anything, is refused as well.
        if value is not None and not 0 < value <= maximum:
            label = name.replace("_", " ")
            raise RunStateError(f"The {label} of a run is more than 0 and at most {maximum:,}.")
    if not all(0 <= price <= limits.MAX_PRICE for price in (run.price_in, run.price_out)):
        raise RunStateError("A price must be 0 or more, per million tokens.")
    maximum = run._meta.get_field("endpoint").max_length or 0
    if len(run.endpoint) > maximum:
        raise RunStateError(
            f"The addresses of the servers are longer than {maximum} characters: give them one name in "
            "JUDGE_ENDPOINTS."
        )
    for part in run.endpoint.split(ENDPOINT_SEPARATOR):
        if "://" in part:
            try:
                check_address(part)
            except BackendError as error:
                raise RunStateError(str(error)) from None
    if run.max_money is not None and not (run.price_in or run.price_out):
        raise RunStateError(
            "A budget of money needs prices of tokens: enter those of the run or of its server."
        )


def put_server_aside(run: ModelRun, url: str, reason: str) -> None:
    """Record that a worker no longer asks a server, and why, for everybody to see."""
    with transaction.atomic():
        # Another worker may write down another one.
        stored = rows(run).select_for_update().get()
        run.put_aside = stored.put_aside = stored.put_aside | {url: reason}
        stored.save(update_fields=["put_aside"])


def goes_on(run: ModelRun) -> bool:
    """Return whether workers may take more pairs; stop the run if its budget is spent."""
    if (reason := over_budget(run)) and any_unfinished(run):
        rows(run).filter(state=State.RUNNING).update(state=State.STOPPED, note=reason, ended=Now())
    run.refresh_from_db(fields=["state", "note"])
    return run.is_running


def over_budget(run: ModelRun) -> str:
    """Return the budget of a run that is spent, in a sentence; "" while none is."""
    if reason := run.exhausted_project_budget():
        return reason
    if run.max_requests is None and run.max_tokens is None and run.max_money is None:
        return ""
    spending = run.spending()
    tokens = spending.prompt_tokens + spending.completion_tokens
    money = run.money(spending.prompt_tokens, spending.completion_tokens)
    if run.max_requests is not None and spending.requests >= run.max_requests:
        return f"The budget of {n_of(run.max_requests, run.BUDGET_UNIT, ',')} is spent."
    if run.max_tokens is not None and tokens >= run.max_tokens:
        return f"The budget of {run.max_tokens:,} tokens is spent."
    if run.max_money is not None and money >= run.max_money:
        return f"The budget of {run.max_money:,.2f} {run.currency} is spent."
    return ""


def rows(run: ModelRun) -> QuerySet[Any]:
    """Return a queryset of the run, for a conditional UPDATE."""
    return type(run)._default_manager.filter(pk=run.pk)


@contextmanager
def giving_up(
    run: ModelRun, worker: str, has_coworkers: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Record in the run what stops a worker within this context, and raise it on.

    `has_coworkers` says whether somebody else will work at the run who holds no lease just now.

    A database that does not answer is no reason to pause a run, nor that another process plans it.
    """
    try:
        yield
    except (OperationalError, PlanningConflictError):
        raise
    except UserError as error:
        _give_up(run, worker, str(error), has_coworkers())
        raise
    except Exception as error:
        _give_up(run, worker, f"{type(error).__name__}: {error}", has_coworkers())
        raise


def _give_up(run: ModelRun, worker: str, reason: str, has_coworkers: bool) -> None:
    """Record why a worker stops; the last one to leave pauses the run."""
    rows(run).filter(state=State.PLANNING).update(note=reason[:500])
    running = rows(run).filter(state=State.RUNNING)
    if has_coworkers or leased(run).exclude(owner=worker).exists():
        running.update(note=f"{worker} left: {reason}"[:500])
    else:
        running.update(state=State.PAUSED, note=reason[:500])
    run.refresh_from_db()
