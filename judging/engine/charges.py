"""Charges for calls outside of a run: trials of a judge, and asking one again."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.models import Project
from judging.engine.endpoints import endpoint_named, is_of_project
from judging.graders.base import GraderError
from judging.grading.pairs import Reply
from judging.models.endpoint import ProjectBudget, budget_of


def check_budget(endpoint: str, project: Project) -> None:
    """Raises GraderError where a project's server is meant, and its budget is used up or was never set."""
    if is_of_project(endpoint) and (why := budget_of(project).exhausted()):
        raise GraderError(f"{why} An admin of the site can set one on the page of its servers.")


def charge(endpoint: str, project: Project, replies: Iterable[Reply]) -> None:
    """Charge the tokens of some replies to the project's budget, where one of its servers gave them."""
    row = endpoint_named(endpoint)
    budget = ProjectBudget.objects.filter(project=project).first()
    if row is None or budget is None:
        return
    pairs = [(reply.prompt_tokens, reply.completion_tokens) for reply in replies]
    read, written = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    money = (read * row.price_in + written * row.price_out) / 1_000_000
    ProjectBudget.charge(budget.pk, read + written, money)
