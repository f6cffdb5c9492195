"""The states of a run of a model: paused, cancelled, stopped at its budget, given up by its workers.

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

from judging.engine import budget
from judging.engine.leases import any_left, held
from judging.engine.planning import PlannedElsewhere
from judging.graders.base import GraderError
from judging.graders.openai_server import check_address
from judging.models.run import PARTED_BY, ModelRun

State = ModelRun.State
MOST = {  # that a run may be told; each is more than 0
    "concurrency": budget.CONCURRENCY,
    "workers": budget.WORKERS,
    "max_tokens": budget.TOKENS,
    "max_money": budget.MONEY,
}


class RunRefused(ValueError):
    """A step that this run cannot take now; the message can be shown to a person."""


def pause(run: ModelRun, note: str = "") -> None:
    """Let no worker take another pair; what is in flight is finished. Raises RunRefused."""
    move(run, (State.RUNNING,), State.PAUSED, note)


def cancel(run: ModelRun) -> None:
    """End a run; all grades so far stay, and it can still be resumed. Raises RunRefused."""
    move(run, (State.PLANNING, State.RUNNING, State.PAUSED), State.CANCELLED, "", ended=Now())


def move(
    run: ModelRun, from_states: tuple[State, ...], to: State, note: str, **fields: Any
) -> None:
    moved = rows(run).filter(state__in=from_states).update(state=to, note=note[:500], **fields)
    run.refresh_from_db()
    if not moved:
        raise RunRefused(f"{run.called} is {run.get_state_display()}: it cannot be {to.label}.")


def check(run: ModelRun, most_of: Mapping[str, int]) -> None:
    """Raises RunRefused for what no form has looked at: a command's numbers, or its address.

    `most_of` are further fields than MOST, with the most that each may be.
    """
    for name, most in {**MOST, **most_of}.items():
        value = getattr(run, name)
        # Put so that what is no number, which is not less than anything, is refused as well.
        if value is not None and not 0 < value <= most:
            words = name.replace("_", " ")
            raise RunRefused(f"The {words} of a run is more than 0 and at most {most:,}.")
    if not all(0 <= price <= budget.PRICE for price in (run.price_in, run.price_out)):
        raise RunRefused("A price is 0 or more, of a million tokens.")
    most = run._meta.get_field("endpoint").max_length or 0
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


def put_server_aside(run: ModelRun, url: str, why: str) -> None:
    """Write down that a worker asks a server no more, and why, for everybody who looks at the run."""
    with transaction.atomic():
        # Another worker may write down another one.
        there = rows(run).select_for_update().get()
        run.put_aside = there.put_aside = there.put_aside | {url: why}
        there.save(update_fields=["put_aside"])


def goes_on(run: ModelRun) -> bool:
    """Whether workers may take more pairs; a run whose budget is spent is stopped here."""
    if (reason := over_budget(run)) and any_left(run):
        rows(run).filter(state=State.RUNNING).update(state=State.STOPPED, note=reason, ended=Now())
    run.refresh_from_db(fields=["state", "note"])
    return run.is_running


def over_budget(run: ModelRun) -> str:
    """Which budget of a run is spent, in a sentence; "" while none is."""
    if reason := run.exhausted_project_budget():
        return reason
    if run.most_asked is None and run.max_tokens is None and run.max_money is None:
        return ""
    spent = run.spent()
    tokens = spent.prompt_tokens + spent.completion_tokens
    money = run.money(spent.prompt_tokens, spent.completion_tokens)
    if run.most_asked is not None and spent.asked >= run.most_asked:
        return f"The budget of {run.most_asked:,} {run.ASKED} is spent."
    if run.max_tokens is not None and tokens >= run.max_tokens:
        return f"The budget of {run.max_tokens:,} tokens is spent."
    if run.max_money is not None and money >= run.max_money:
        return f"The budget of {run.max_money:,.2f} {run.currency} is spent."
    return ""


def rows(run: ModelRun) -> QuerySet[Any]:
    """The run as it is in the database, for a conditional UPDATE."""
    return type(run)._default_manager.filter(pk=run.pk)


@contextmanager
def giving_up(
    run: ModelRun, worker: str, has_others: Callable[[], bool] = lambda: False
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


def _give_up(run: ModelRun, worker: str, reason: str, has_others: bool) -> None:
    """A worker cannot go on. The last one to leave pauses the run, and everybody reads why."""
    rows(run).filter(state=State.PLANNING).update(note=reason[:500])
    running = rows(run).filter(state=State.RUNNING)
    if has_others or held(run).exclude(owner=worker).exists():
        running.update(note=f"{worker} left: {reason}"[:500])
    else:
        running.update(state=State.PAUSED, note=reason[:500])
    run.refresh_from_db()
