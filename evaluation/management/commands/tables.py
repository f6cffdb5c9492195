"""`manage.py tables`: the command of `evaluation/replications/crux_paper/`."""

from evaluation.replications.crux_paper.command import Command

__all__ = ["Command"]
