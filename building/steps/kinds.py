"""Registry of recipe steps, and preparation of a recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Topic
from building.retrieval.recipe import Recipe, RecipeError, Stage
from building.steps.diversity import MmrStep, XquadStep
from building.steps.fusing import FuseStep
from building.steps.grades import ByRatingsStep, RequiredStep
from building.steps.lexical import Bm25Step
from building.steps.lucene import AnseriniStep
from building.steps.options import (
    AGGREGATE,
    BACKGROUND,
    BY,
    ETA,
    JUDGE,
    K1,
    KIND,
    LAMBDA,
    LAMBDA_OF_QUESTIONS,
    LANGUAGE,
    MODEL,
    RUN,
    SERVER,
    STATIC,
    STRIDE,
    TOKENS,
    TOKENS_OF_A_REPLY,
    VECTORS,
    WEIGHTS,
    WINDOW,
    B,
    K,
    Option,
)
from building.steps.recipe_context import BatchStep, Ranking, RecipeContext, Step
from building.steps.runs import RunStep
from building.steps.servers import ListwiseStep, RerankStep
from building.steps.vectors import EmbedStep, StaticStep


@dataclass(frozen=True)
class Kind:
    """A kind of step: its class, its options, and where it may stand in a recipe.

    `reorders`: it needs a ranking before it. `joins`: it is given rankings in brackets. `reads_index`: it
    reads our index of the passages.
    """

    step_class: Callable[[RecipeContext, Mapping[str, str]], Step]
    options: tuple[Option, ...]
    reorders: bool = False
    joins: bool = False
    reads_index: bool = False

    @property
    def says(self) -> str:
        return " ".join(str(self.step_class.__doc__).split())

    @property
    def does(self) -> str:
        """Return what the step does in a phrase, without its options."""
        return self.says.partition("): ")[2].partition(". ")[0].rstrip(".")


KINDS: Mapping[str, Kind] = {
    "bm25": Kind(Bm25Step, (K1, B, BACKGROUND), reads_index=True),
    "anserini": Kind(AnseriniStep, (K1, B, LANGUAGE)),
    "fuse": Kind(FuseStep, (BY, K, WEIGHTS), joins=True),
    "static": Kind(StaticStep, (STATIC,)),
    "embed": Kind(EmbedStep, (SERVER, MODEL, TOKENS)),
    "run": Kind(RunStep, (RUN,)),
    "rerank": Kind(RerankStep, (SERVER, MODEL, KIND, TOKENS), reorders=True),
    "listwise": Kind(
        ListwiseStep, (SERVER, MODEL, WINDOW, STRIDE, TOKENS_OF_A_REPLY), reorders=True
    ),
    "mmr": Kind(MmrStep, (LAMBDA, SERVER, MODEL, TOKENS, VECTORS), reorders=True),
    "xquad": Kind(XquadStep, (LAMBDA_OF_QUESTIONS,), reorders=True, reads_index=True),
    "by_ratings": Kind(ByRatingsStep, (JUDGE, AGGREGATE, ETA), reorders=True),
    "required": Kind(RequiredStep, (JUDGE, ETA)),
}


@dataclass(frozen=True)
class Prepared:
    """A recipe with all steps prepared, for any number of topics."""

    steps: tuple[tuple[Step, Stage, tuple[Prepared, ...]], ...]

    @property
    def made_from(self) -> list[dict[str, Any]]:
        """Return the provenance of the steps; it identifies the run."""
        return [
            {
                "step": stage.name,
                **step.made_from,
                "of": [part.made_from for part in parts],
                "cut": stage.cut,
            }
            for step, stage, parts in self.steps
        ]

    def rank_all(self, topics: Sequence[Topic]) -> dict[Topic, Ranking]:
        self._prepare_for(topics)
        return {topic: self.of(topic) for topic in topics}

    def _prepare_for(self, topics: Sequence[Topic]) -> None:
        for step, _, parts in self.steps:
            if isinstance(step, BatchStep):
                step.prepare_for(topics)
            for part in parts:
                part._prepare_for(topics)

    def of(self, topic: Topic) -> Ranking:
        ranking = Ranking([])
        for step, stage, parts in self.steps:
            ranking = step(topic, ranking, [part.of(topic) for part in parts]).cut(stage.cut)
        return ranking


def prepare(recipe: Recipe, kitchen: RecipeContext) -> Prepared:
    """Prepare a recipe.

    Raises RecipeError for an invalid step, option or order; MissingIndexError.
    """
    steps = []
    for index, stage in enumerate(recipe.stages):
        kind = _kind(stage, is_first=index == 0)
        parts = tuple(prepare(part, kitchen) for part in stage.arguments)
        steps.append((kind.step_class(kitchen, dict(stage.options)), stage, parts))
    return Prepared(tuple(steps))


def check(recipe: Recipe) -> None:
    """Validate a recipe before anything is read or asked. Raises RecipeError."""
    for index, stage in enumerate(recipe.stages):
        kind = _kind(stage, is_first=index == 0)
        options = {option.key: option for option in kind.options}
        for key, value in stage.options:
            options[key].check(stage.name, value)
        for part in stage.arguments:
            check(part)


def _kind(stage: Stage, *, is_first: bool) -> Kind:
    kind = KINDS.get(stage.name)
    if kind is None:
        raise RecipeError(f"There is no step “{stage.name}”. There are: {', '.join(KINDS)}.")
    known_keys = [option.key for option in kind.options]
    for key, _ in stage.options:
        if key not in known_keys:
            listed = ", ".join(known_keys)
            raise RecipeError(f"{stage.name} has no option “{key}”. It has: {listed}.")
    if kind.reorders and is_first:
        raise RecipeError(
            f"{stage.name} needs a ranking before it, such as “bm25 % 100 > {stage}”."
        )
    if not kind.reorders and not is_first:
        raise RecipeError(f"{stage.name} creates a ranking, so it must be the first step.")
    if kind.joins and len(stage.arguments) < 2:
        raise RecipeError(f"{stage.name} needs two or more rankings in its brackets.")
    if stage.arguments and not kind.joins:
        raise RecipeError(f"{stage.name} takes no ranking in its brackets.")
    return kind
