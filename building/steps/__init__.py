"""Steps of retrieval recipes, with their options and provenance."""

from building.steps.kinds import KINDS, Kind, check, prepare
from building.steps.recipe_context import Ranking, RecipeContext, StepError

__all__ = ["KINDS", "Kind", "Ranking", "RecipeContext", "StepError", "check", "prepare"]
