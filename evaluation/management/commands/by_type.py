"""`manage.py by_type`: the command of `evaluation/replications/know_your_rag/`."""

from evaluation.replications.know_your_rag.command import Command

__all__ = ["Command"]
