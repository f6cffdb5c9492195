"""Models of judges, their runs, and every reply that they gave."""

from judging.models.attempt import Attempt
from judging.models.endpoint import AllowedHost, Endpoint, OutboundPolicy, ProjectBudget
from judging.models.judge import ImmutableError, Judge
from judging.models.judge_test import JudgeTestReply
from judging.models.run import Batch, JudgeRun, Shard

__all__ = [
    "AllowedHost",
    "Attempt",
    "Batch",
    "Endpoint",
    "ImmutableError",
    "Judge",
    "JudgeRun",
    "JudgeTestReply",
    "OutboundPolicy",
    "ProjectBudget",
    "Shard",
]
