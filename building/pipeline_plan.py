"""Pipeline plan of a collection: a TOML file with writers, judge, runs and reports."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotation.errors import UserError

Name = Annotated[str, Field(min_length=1, max_length=120)]


class PlanError(UserError):
    """A plan that cannot be read; sentences that name the place."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class WriterPlan(_Part):
    """The writer of a step: the baseline by default, an existing writer, or a new one."""

    writer: str = ""
    model: str = ""
    prompt: str = ""
    backend: Literal["", "openai", "vllm", "transformers"] = ""
    revision: str = ""
    adapter: str = ""
    endpoint: str = ""
    n: Annotated[int, Field(ge=0, le=100)] = 0


class ReportPlan(WriterPlan):
    run: Name
    k: str = ""
    context_tokens: Annotated[int, Field(ge=1)] = 2_500
    length: str = ""
    system: str = ""


class JudgePlan(_Part):
    name: str = ""
    endpoint: str = ""


class RunPlan(_Part):
    name: Name
    recipe: Name


class Plan(_Part):
    """`accept_unseen`: accept all outputs without review."""

    accept_unseen: bool = False
    eta: Annotated[int, Field(ge=1, le=5)] = 3
    passages: WriterPlan | None = None
    request: WriterPlan | None = None
    questions: WriterPlan | None = None
    judge: JudgePlan = JudgePlan()
    filter: bool = True
    runs: tuple[RunPlan, ...] = ()
    reports: tuple[ReportPlan, ...] = ()


def read(path: Path) -> Plan:
    """Parse a plan file. Raises PlanError, and OSError."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        # TOML has lists, and JSON's strictness takes them for tuples; Python's does not.
        return Plan.model_validate(values, strict=False)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"{path.name}: {error}") from None
    except ValidationError as error:
        problems = [
            f"{path.name}: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}."
            for wrong in error.errors(include_url=False)
        ]
        raise PlanError(" ".join(problems)) from None
