"""What the page of recall by type is asked for: who says the type, two runs, how they are joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from django import forms
from django.utils.http import urlencode

from annotation.models import Dataset
from annotation.models.standard import QUESTION_TYPE
from evaluation.by_type.gold import OWN, golds
from evaluation.data.cache import cached
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.question_kinds import QuestionKind, question_kinds
from evaluation.data.selection import SelectionError
from evaluation.models import RankedText
from evaluation.scoring.same_topics import largest_group

How = Literal["raw", "minmax", "rrf"]
HOWS: dict[How, str] = {
    "raw": "scores as they are",
    "minmax": "scores brought to 0..1",
    "rrf": "reciprocal ranks",
}
WEIGHTS = "0, 0.05, 0.1, 0.2, 0.5, 1"  # of the paper's scan
MOST_WEIGHTS = 21
DEPTH = 5
NO_WEIGHTS = (
    f"The weights are 1 to {MOST_WEIGHTS} different numbers from 0 to 1, such as {WEIGHTS}."
)
NO_DEPTH = "k is a whole number from 1 to 1000."


class Weights(forms.CharField):
    """Numbers parted by commas, in ascending order."""

    def clean(self, value: Any) -> tuple[float, ...]:
        try:
            weights = sorted(float(word) for word in (value or WEIGHTS).split(","))
        except ValueError:
            raise SelectionError(NO_WEIGHTS) from None
        are_shares = all(0 <= weight <= 1 for weight in weights)
        if not are_shares or len(weights) != len(set(weights)) or len(weights) > MOST_WEIGHTS:
            raise SelectionError(NO_WEIGHTS)
        return tuple(weights)


class ByRater(OneOf):
    """RUBRIC:RATER, or a rater alone: then under `question-type`, or the one rubric that it rated under."""

    def look_up(self, name: str) -> str:
        if ":" not in name:
            of_rater = [str(c) for c in self.choices if str(c).partition(":")[2] == name]
            first = [c for c in of_rater if c.partition(":")[0] == QUESTION_TYPE.slug]
            name = next(iter(first or (of_rater if len(of_rater) == 1 else [])), name)
        return super().look_up(name)


class ByTypeForm(QueryForm):
    """Who says the type and which passage is the right one, and what is joined."""

    types = ByRater("rater of types, called")
    gold = OneOf("way to say which passage is the right one, called")
    lexical = OneOf("run called")
    dense = OneOf("run called")
    how = OneOf("way to join runs, called", HOWS)
    k = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), NO_DEPTH),
    )
    weights = Weights(required=False)


@dataclass(frozen=True)
class ByTypeChoice:
    """One state of the page. `kinds` are the types that a rater gave, none where nobody gave any."""

    dataset: Dataset
    kinds: tuple[QuestionKind, ...]
    typings: tuple[str, ...]
    """RUBRIC:RATER of everybody who says types."""
    gold: str
    golds: tuple[str, ...]
    runs: tuple[str, ...]
    lexical: str
    dense: str
    how: How
    k: int
    weights: tuple[float, ...]

    @property
    def types(self) -> str:
        return self.kinds[0].typing if self.kinds else ""

    @property
    def how_title(self) -> str:
        return HOWS[self.how]

    @property
    def hows(self) -> list[tuple[How, str]]:
        return list(HOWS.items())

    @property
    def golds_in_words(self) -> list[tuple[str, str]]:
        """The choices by their names, and what each is."""
        return [
            (name, "of the question’s own topic" if name == OWN else name) for name in self.golds
        ]

    @property
    def weights_in_words(self) -> str:
        """Each as exact as it was given: the address and the cache tell weights apart by these words."""
        return ", ".join(str(weight).removesuffix(".0") for weight in self.weights)

    def params(self) -> dict[str, Any]:
        """The state as parameters of a URL, and of the command."""
        return {
            **({"types": self.types} if self.types else {}),
            "gold": self.gold,
            "lexical": self.lexical,
            "dense": self.dense,
            "how": self.how,
            "k": self.k,
            "weights": self.weights_in_words.replace(" ", ""),
        }

    @property
    def query(self) -> str:
        return urlencode(self.params())


def by_type_choice(dataset: Dataset, words: Mapping[str, Any]) -> ByTypeChoice | None:
    """The state that these words ask for; None where there are not two runs to join.

    Raises SelectionError, which lists the choices, for what is not there.
    """
    runs = tuple(dataset.runs.order_by("name").values_list("name", flat=True))
    if len(runs) < 2:
        return None
    kinds = question_kinds(dataset)
    typings = tuple(dict.fromkeys(kind.typing for kind in kinds))
    every_gold = golds(dataset)
    form = ByTypeForm(words)
    form.offer(types=typings, gold=every_gold, lexical=runs, dense=runs)
    asked = form.asked()
    typing = asked["types"] or next(iter(typings), "")
    lexical, dense = _two(_most_alike_first(dataset, runs), asked["lexical"], asked["dense"])
    return ByTypeChoice(
        dataset=dataset,
        kinds=tuple(kind for kind in kinds if kind.typing == typing),
        typings=typings,
        gold=asked["gold"] or every_gold[0],
        golds=every_gold,
        runs=runs,
        lexical=lexical,
        dense=dense,
        how=cast(How, asked["how"]) or _by_default(dataset, lexical, dense),
        k=asked["k"] or DEPTH,
        weights=asked["weights"],
    )


def _by_default(dataset: Dataset, *runs: str) -> How:
    """Scores as they are, where both runs have some; else ranks alone can be joined."""
    without = RankedText.objects.filter(run__dataset=dataset, run__name__in=runs, score=None)
    return "rrf" if without.exists() else "raw"


def _most_alike_first(dataset: Dataset, runs: tuple[str, ...]) -> tuple[str, ...]:
    """The runs, those of the largest group on the same topics first: see `largest_group`."""

    def group() -> tuple[str, ...]:
        topics: dict[str, set[int]] = {run: set() for run in runs}
        ranked = RankedText.objects.filter(run__dataset=dataset).order_by()
        for run, topic in ranked.values_list("run__name", "topic_id").distinct():
            topics[run].add(topic)
        return largest_group({run: frozenset(ranked) for run, ranked in topics.items()})

    together = cached(dataset, ("runs on the same topics",), group)
    return (*together, *(run for run in runs if run not in together))


def _two(runs: tuple[str, ...], lexical: str | None, dense: str | None) -> tuple[str, str]:
    """Two different runs: those that are named, else one that is called `bm25`, and `dense` or the next."""
    if lexical and lexical == dense:
        raise SelectionError(f"The lexical run and the dense one are both {lexical}: choose two.")
    free = [run for run in runs if run != dense]
    lexical = lexical or next((run for run in free if "bm25" in run.lower()), free[0])
    others = [run for run in runs if run != lexical]
    dense = dense or next((run for run in others if "dense" in run.lower()), others[0])
    return lexical, dense
