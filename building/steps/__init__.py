"""The steps of recipes: what each is given, what it makes of a topic, and what it was made from."""

from building.steps.kinds import KINDS, Kind, check, prepare
from building.steps.kitchen import Kitchen, Ranking, StepFailed

__all__ = ["KINDS", "Kind", "Kitchen", "Ranking", "StepFailed", "check", "prepare"]
