"""Judges, their runs, and every reply that they gave."""

from judging.models.attempt import Attempt
from judging.models.endpoint import AllowedHost, Endpoint, OutboundPolicy, ProjectBudget
from judging.models.judge import Immutable, Judge
from judging.models.run import Batch, JudgeRun, Shard

__all__ = [
    "AllowedHost",
    "Attempt",
    "Batch",
    "Endpoint",
    "Immutable",
    "Judge",
    "JudgeRun",
    "OutboundPolicy",
    "ProjectBudget",
    "Shard",
]
