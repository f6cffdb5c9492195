"""The steps of recipes: what each is given, what it makes of a topic, and what it was made from."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from annotation.models import Dataset, Topic
from building.indexes import index_of
from building.retrieval.bm25 import K1, B, Background, BackgroundBroken, Bm25
from building.retrieval.fusion import Scored, by_coverage, by_sum, reciprocal_rank
from building.retrieval.index import Index
from building.retrieval.recipe import Recipe, RecipeError, Stage
from evaluation.data.selection import SelectionError
from evaluation.scoring.options import DEFAULT_ETA, ScoringForm
from evaluation.scoring.pools import Pool, load_pools

DEEP = 1_000  # texts of a ranking that no step cuts
RRF_K = 60


@dataclass
class Kitchen:
    """A dataset, and what steps share of it. `opens_files`: whether a recipe may name files of this machine."""

    dataset: Dataset
    opens_files: bool = False
    most: int | None = None
    _pools: dict[tuple[str, int], Mapping[int, Pool]] = field(default_factory=dict)

    @cached_property
    def index(self) -> Index:
        """Raises NoIndex where there are more passages than `most`, and no index of them."""
        return index_of(self.dataset, self.most)

    def pools(self, judge: str, eta: int) -> Mapping[int, Pool]:
        """Raises RecipeError for a source of grades that is not there."""
        if (judge, eta) not in self._pools:
            try:
                options = ScoringForm(self.dataset, {"source": judge, "eta": str(eta)}).options()
            except SelectionError as error:
                raise RecipeError(str(error)) from None
            self._pools[judge, eta] = load_pools(self.dataset, options)
        return self._pools[judge, eta]


@dataclass
class Ranking:
    """What a step made of a topic. `unknown` are terms that a background has no number for."""

    texts: Scored
    unknown: set[str] = field(default_factory=set)

    def cut(self, n: int | None) -> Ranking:
        return Ranking(self.texts[: n or DEEP], self.unknown)


class Step(Protocol):
    """A step with its options read. `made_from` says them all, and the data beside the topics' requests."""

    made_from: dict[str, Any]

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking: ...


class Bm25Step:
    """bm25(k1=0.9, b=0.4, background=FILE): passages with words of the request, as Lucene ranks them."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        self.made_from: dict[str, Any] = {"k1": K1, "b": B, "background": None}
        background = None
        for name, most in (("k1", 1_000.0), ("b", 1.0)):
            if name in options:
                self.made_from[name] = _number(f"bm25: {name}", options[name], most)
        if "background" in options:
            background, self.made_from["background"] = _background(kitchen, options["background"])
        index = kitchen.index
        self.made_from |= {"corpus": index.meta.corpus, "index": index.meta.version}
        self.bm25 = Bm25(index, self.made_from["k1"], self.made_from["b"], background)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        found = self.bm25.ranked(topic.request, DEEP)
        keys = self.bm25.index.keys[found.rows].tolist()
        return Ranking(list(zip(keys, found.scores.tolist(), strict=True)), set(found.unknown))


class FuseStep:
    """fuse(A, B, ..., k=60): the sum of 1 / (k + rank) over the rankings that hold a text."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        self.made_from: dict[str, Any] = {"k": _whole("fuse: k", options.get("k", str(RRF_K)))}

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        texts = reciprocal_rank([part.texts for part in parts], self.made_from["k"])
        return Ranking(texts, set().union(*(part.unknown for part in parts)))


class _Rated:
    """What a step of grades shares: whose they are, and the grades of some texts on a topic's questions."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        judge = options.get("judge", "")
        if not judge:
            raise RecipeError("This step reads grades: say whose with judge=NAME.")
        eta = _whole("eta", options.get("eta", str(DEFAULT_ETA)))
        self.pools = kitchen.pools(judge, eta)
        digest = hashlib.sha256()
        for pool in self.pools.values():
            digest.update(pool.rated_texts.tobytes() + pool.rated_grades.tobytes())
        self.made_from: dict[str, Any] = {
            "judge": judge,
            "eta": eta,
            "grades": digest.hexdigest()[:16],
        }


class ByRatingsStep(_Rated):
    """by_ratings(judge=NAME, aggregate=sum|coverage, eta=3): the ranking before it, by a judge's grades."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        super().__init__(kitchen, options)
        aggregate = options.get("aggregate", "sum")
        if aggregate not in ("sum", "coverage"):
            raise RecipeError(f"by_ratings: aggregate is sum or coverage, not “{aggregate}”.")
        self.made_from["aggregate"] = aggregate

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        pool = self.pools[topic.pk]
        keys = [text for text, _ in before.texts]
        grades = pool.context(keys)
        if self.made_from["aggregate"] == "sum":
            return Ranking(by_sum(keys, grades), before.unknown)
        return Ranking(by_coverage(keys, grades, pool.eta), before.unknown)


class RequiredStep(_Rated):
    """required(judge=NAME, eta=3): the required subset of each topic, Z*, in the order of its making."""

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        keys = self.pools[topic.pk].required_texts
        return Ranking([(key, float(len(keys) - place)) for place, key in enumerate(keys)])


@dataclass(frozen=True)
class Kind:
    """A step that there is: what makes it, its options, and where it may stand.

    `reorders`: it needs a ranking before it. `joins`: it is given rankings in brackets.
    """

    makes: Callable[[Kitchen, Mapping[str, str]], Step]
    options: tuple[str, ...]
    reorders: bool = False
    joins: bool = False

    @property
    def says(self) -> str:
        return str(self.makes.__doc__).strip()


KINDS: Mapping[str, Kind] = {
    "bm25": Kind(Bm25Step, ("k1", "b", "background")),
    "fuse": Kind(FuseStep, ("k",), joins=True),
    "by_ratings": Kind(ByRatingsStep, ("judge", "aggregate", "eta"), reorders=True),
    "required": Kind(RequiredStep, ("judge", "eta")),
}


@dataclass(frozen=True)
class Prepared:
    """A recipe of which every step is ready, for any number of topics."""

    steps: tuple[tuple[Step, Stage, tuple[Prepared, ...]], ...]

    @property
    def made_from(self) -> list[dict[str, Any]]:
        """The steps with all that decides what they make: as they are said to be the same."""
        return [
            {
                "step": stage.name,
                **step.made_from,
                "of": [part.made_from for part in parts],
                "cut": stage.cut,
            }
            for step, stage, parts in self.steps
        ]

    def of(self, topic: Topic) -> Ranking:
        ranking = Ranking([])
        for step, stage, parts in self.steps:
            ranking = step(topic, ranking, [part.of(topic) for part in parts]).cut(stage.cut)
        return ranking


def prepare(recipe: Recipe, kitchen: Kitchen) -> Prepared:
    """Raises RecipeError for a step, option or order that cannot be, and NoIndex."""
    steps = []
    for place, stage in enumerate(recipe.stages):
        kind = _kind(stage, is_first=place == 0)
        parts = tuple(prepare(part, kitchen) for part in stage.arguments)
        steps.append((kind.makes(kitchen, dict(stage.options)), stage, parts))
    return Prepared(tuple(steps))


def _kind(stage: Stage, *, is_first: bool) -> Kind:
    kind = KINDS.get(stage.name)
    if kind is None:
        raise RecipeError(f"There is no step “{stage.name}”. There are: {', '.join(KINDS)}.")
    for key, _ in stage.options:
        if key not in kind.options:
            known = ", ".join(kind.options)
            raise RecipeError(f"{stage.name} has no option “{key}”. It has: {known}.")
    if kind.reorders and is_first:
        raise RecipeError(
            f"{stage.name} needs a ranking before it, such as “bm25 % 100 > {stage}”."
        )
    if not kind.reorders and not is_first:
        raise RecipeError(f"{stage.name} makes a ranking of its own: it stands first.")
    if kind.joins and len(stage.arguments) < 2:
        raise RecipeError(f"{stage.name} joins two rankings or more, in its brackets.")
    if stage.arguments and not kind.joins:
        raise RecipeError(f"{stage.name} takes no ranking in its brackets.")
    return kind


def _background(kitchen: Kitchen, name: str) -> tuple[Background, dict[str, str]]:
    if not kitchen.opens_files:
        raise RecipeError("A file of statistics can be named in a command alone.")
    path = Path(name)
    try:
        background = Background.read(path)
    except BackgroundBroken as error:
        raise RecipeError(str(error)) from None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return background, {"file": path.name, "sha256": digest}


def _number(what: str, words: str, most: float) -> float:
    try:
        number = float(words)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise RecipeError(f"{what} is a number from 0 to {most:g}, not “{words}”.")
    return number


def _whole(what: str, words: str) -> int:
    if not words.isascii() or not words.isdecimal() or len(words) > 6:
        raise RecipeError(f"{what} is a whole number, not “{words}”.")
    return int(words)
