"""What the grid is asked for: the setting that varies, the base, rules, tokens, and who answered questions.

Systems are compared that are set alike but for one setting: one family. Or all of them, however they are set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from annotation.models import Dataset
from evaluation.data.columns import Column
from evaluation.data.generations import Generations
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.selection import SelectionError
from evaluation.metrics.ragquesteval import AUTHORS, PAPER
from evaluation.metrics.words import NAMES, tokens_called, usual_tokens
from evaluation.scoring.generations import Asked, Scorer

EVERY = "system"  # in the place of a setting: all systems, whatever they are set to
RULES = {
    PAPER: "paper: a value that is undefined has no place in a mean",
    AUTHORS: "authors: 0 where their code says 0",
}
_LOOKED_AT = 200  # references that tell the language

Settings = Mapping[str, Any]


class GridForm(QueryForm):
    """What varies, what it is held against, and how reports are measured."""

    vary = OneOf("setting that differs between systems, called")
    base = OneOf("system with this setting, called")
    rules = OneOf("rules, called", RULES, initial=PAPER)
    tokens = OneOf("way to cut words, called", NAMES)
    rater = OneOf("rater who answered questions, called")


@dataclass(frozen=True)
class GridChoice:
    """One state of the page. `systems` are compared, in the order of the setting's values; `base` is one."""

    scorer: Scorer
    settings: Mapping[str, Settings]
    vary: str
    base: str
    systems: tuple[str, ...]
    rater: Column | None

    @property
    def dataset(self) -> Dataset:
        return self.scorer.generations.dataset

    @property
    def asked(self) -> Asked:
        return self.scorer.asked

    @property
    def varies(self) -> list[str]:
        return [*varying(self.settings), EVERY]

    @property
    def bases(self) -> list[str]:
        return _with(self.settings, self.vary)

    @property
    def answerers(self) -> list[Column]:
        return self.scorer.generations.answerers

    @cached_property
    def alike(self) -> dict[str, Any]:
        """The settings that all systems of the family share."""
        if self.vary == EVERY or not self.base:
            return {}
        return {
            name: value for name, value in self.settings[self.base].items() if name != self.vary
        }

    def value(self, system: str) -> Any:
        """What the varied setting is; the system's name where all are compared."""
        return system if self.vary == EVERY else self.settings[system][self.vary]

    @property
    def query(self) -> str:
        """The state as the query of a URL."""
        asked = {
            "vary": self.vary,
            "base": self.base,
            "rules": self.asked.rules,
            "tokens": self.asked.tokens.name,
            "rater": self.rater.name if self.rater else "",
        }
        return urlencode({name: value for name, value in asked.items() if value})


def grid_choice(dataset: Dataset, words: Mapping[str, Any]) -> GridChoice:
    """The state that these parameters ask for. Raises SelectionError for what is not there."""
    generations = Generations(dataset)
    settings = generations.settings
    form = GridForm(words)
    vary = words.get("vary") or _usual_vary(settings)
    form.offer(
        vary=[*varying(settings), EVERY],
        base=_with(settings, vary),
        rater=[rater.name for rater in generations.answerers],
    )
    asked = form.asked()
    base = asked["base"] or _usual_base(settings, vary, generations.written)
    raters = {rater.name: rater for rater in generations.answerers}
    rater = raters[asked["rater"]] if asked["rater"] else next(iter(raters.values()), None)
    tokens = asked["tokens"] or usual_tokens(islice(generations.references.values(), _LOOKED_AT))
    try:
        cut = tokens_called(tokens)
    except ModuleNotFoundError as error:
        raise SelectionError(f"This needs {error.name}, an extra: make env EXTRAS=zh") from error
    return GridChoice(
        Scorer(generations, Asked(cut, asked["rules"], rater.pk if rater else None)),
        settings,
        vary,
        base,
        tuple(_family(settings, vary, base)),
        rater,
    )


def varying(settings: Mapping[str, Settings]) -> list[str]:
    """The settings that two systems or more have with unlike values, by name."""
    values: dict[str, set[str]] = defaultdict(set)
    for each in settings.values():
        for name, value in each.items():
            values[name].add(repr(value))
    return sorted(name for name, known in values.items() if len(known) > 1 and name != EVERY)


def _with(settings: Mapping[str, Settings], vary: str) -> list[str]:
    return [name for name, each in settings.items() if vary in (EVERY, *each)]


def _family(settings: Mapping[str, Settings], vary: str, base: str) -> list[str]:
    """The systems that are set as the base is but for `vary`, by its values: numbers as such."""
    if vary == EVERY or not base:
        return list(settings)
    others = _others(settings[base], vary)
    return _families(settings, vary).get(others, [])


def _families(settings: Mapping[str, Settings], vary: str) -> dict[str, list[str]]:
    """The systems with `vary` by how they are set else, each family in its order."""
    families: dict[str, list[str]] = defaultdict(list)
    for name in _with(settings, vary):
        families[_others(settings[name], vary)].append(name)
    return {
        others: sorted(names, key=lambda name: (*_order(settings[name][vary]), name))
        for others, names in families.items()
    }


def _others(settings: Settings, vary: str) -> str:
    return repr(sorted((name, repr(value)) for name, value in settings.items() if name != vary))


def _order(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, str(value)


def _usual_vary(settings: Mapping[str, Settings]) -> str:
    """The setting by which most systems differ in it alone, the first by name of equals; else all systems."""
    sizes = {
        name: len(_family(settings, name, _usual_base(settings, name)))
        for name in varying(settings)
    }
    largest = max(sizes.values(), default=0)
    return next((name for name, size in sizes.items() if size == largest > 1), EVERY)


def _usual_base(settings: Mapping[str, Settings], vary: str, written: Collection[str] = ()) -> str:
    """The first system of the largest family, of those that have `written` reports if there are any."""
    names = list(settings)
    if vary != EVERY:
        names = max(_families(settings, vary).values(), key=len, default=[])
    return next((name for name in names if name in written), next(iter(names), ""))
