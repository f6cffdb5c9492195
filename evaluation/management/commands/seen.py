"""`manage.py seen`: the command of `evaluation/replications/rel_recall/`."""

from evaluation.replications.rel_recall.command import Command

__all__ = ["Command"]
