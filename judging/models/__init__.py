"""Models of judges, their runs, and every reply that they gave."""

from judging.models.attempt import Attempt
from judging.models.endpoint import AllowedHost, Endpoint, OutboundPolicy, ProjectBudget
from judging.models.judge import ImmutableError, Judge
from judging.models.run import Batch, JudgeRun, Shard

__all__ = [
    "AllowedHost",
    "Attempt",
    "Batch",
    "Endpoint",
    "ImmutableError",
    "Judge",
    "JudgeRun",
    "OutboundPolicy",
    "ProjectBudget",
    "Shard",
]
