"""`manage.py grid`: the command of `evaluation/replications/crud_rag/`."""

from evaluation.replications.crud_rag.command import Command

__all__ = ["Command"]
