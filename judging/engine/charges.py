"""Charges to the budget of a project: for its runs, and for calls outside of a run.

Calls outside of a run are trials of a judge, and repeated prompts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotation.models import Project
from judging.engine.endpoints import endpoint_named, is_of_project
from judging.execution.models import ModelRun
from judging.execution.states import RunStateError
from judging.grading.pairs import Reply
from judging.llm.errors import BackendError
from judging.models.endpoint import ProjectBudget, budget_of


def budget_for(run: Any) -> ProjectBudget | None:
    """Return the budget that a run on a server of its dataset's project is charged to, locked.

    None for a run on another server, which no project pays for. Raises RunStateError.
    """
    if not is_of_project(run.endpoint):
        return None
    project = run.dataset.project
    server = endpoint_named(run.endpoint)
    if server is None or server.project_id != project.pk:
        raise RunStateError(f"{project} has no server {run.endpoint}: choose one of this project.")
    budget = ProjectBudget.objects.select_for_update().filter(project=project).first()
    problem = budget.exhausted() if budget else ProjectBudget(project=project).exhausted()
    if budget is None or problem:
        raise RunStateError(
            f"{problem} An admin of the site can set one on the page of its servers."
        )
    if budget.max_money is not None and not server.has_price:
        raise RunStateError(
            f"The budget of {project} limits money, and {server.name} has no price: enter one at the server."
        )
    if budget.max_money is not None and server.currency != budget.currency:
        raise RunStateError(
            f"The budget of {project} is in {budget.currency or 'no currency'}, and the price of {server.name} "
            f"in {server.currency or 'no currency'}: both must be the same."
        )
    return budget


def charge_run(run: ModelRun, prompt_tokens: int, completion_tokens: int) -> None:
    """Charge tokens of a run on a server of a project to that project's budget."""
    if run.project_budget_id:
        money = run.money(prompt_tokens, completion_tokens)
        ProjectBudget.charge(run.project_budget_id, prompt_tokens + completion_tokens, money)


def check_budget(endpoint: str, project: Project) -> None:
    """Raises BackendError if the budget of a project's server is used up or was never set."""
    if is_of_project(endpoint) and (problem := budget_of(project).exhausted()):
        raise BackendError(
            f"{problem} An admin of the site can set one on the page of its servers."
        )


def charge(endpoint: str, project: Project, replies: Iterable[Reply]) -> None:
    """Charge the tokens of replies to the project's budget, if one of its servers gave them."""
    row = endpoint_named(endpoint)
    budget = ProjectBudget.objects.filter(project=project).first()
    if row is None or budget is None:
        return
    pairs = [(reply.prompt_tokens, reply.completion_tokens) for reply in replies]
    read, written = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    money = (read * row.price_in + written * row.price_out) / 1_000_000
    ProjectBudget.charge(budget.pk, read + written, money)
