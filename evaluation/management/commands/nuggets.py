"""`manage.py nuggets`: the command of `evaluation/replications/nuggets/`."""

from evaluation.replications.nuggets.command import Command

__all__ = ["Command"]
