"""Query of the grid: varied setting, base, rules, tokenizer, and answering rater.

Compared are the systems of one family, which are set alike but for one setting; or all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from annotation.models import Dataset
from evaluation.data.columns import Column
from evaluation.data.filter_line import Phrase
from evaluation.data.generations import Generations
from evaluation.data.query import OneOf, PageQuery, parameter
from evaluation.data.selection import SelectionError
from evaluation.metrics.ragquesteval import AUTHORS, PAPER
from evaluation.metrics.tokenizers import NAMES, Tokens, default_tokens, tokens_by_name
from evaluation.scoring.generations import MeasureSettings, Scorer

ALL_SYSTEMS = "system"  # instead of a setting: all systems, whatever their settings
RULES = {
    PAPER: "paper: means leave out undefined values",
    AUTHORS: "authors’ code: undefined values count as 0",
}
_LANGUAGE_SAMPLE = 200  # references from which the language is detected

Settings = Mapping[str, Any]


class GridQuery(PageQuery):
    """Varied setting, base, and measurement of reports. `base` is empty without systems."""

    vary: str = parameter(OneOf("varied setting, called"))
    base: str = parameter(OneOf("system with this setting, called"))
    rules: str = parameter(OneOf("rules, called", RULES, initial=PAPER))
    tokens: Tokens = parameter(OneOf("tokenizer, called", NAMES))
    rater: Column | None = parameter(OneOf("rater who answered questions, called"))

    def __init__(self, dataset: Dataset, params: Mapping[str, Any]) -> None:
        self.dataset = dataset
        self.generations = Generations(dataset)
        self.settings: Mapping[str, Settings] = self.generations.settings
        self.requested_vary = params.get("vary") or _default_vary(self.settings)
        super().__init__(
            params,
            vary=[*varying(self.settings), ALL_SYSTEMS],
            base=_having_setting(self.settings, self.requested_vary),
            rater={rater.name: rater.title for rater in self.generations.answerers},
        )

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        vary, answerers = self.requested_vary, self.generations.answerers
        base = values["base"] or _default_base(self.settings, vary, self.generations.written)
        requested = [rater for rater in answerers if values["rater"] in (rater.name, None)]
        tokens = values["tokens"] or default_tokens(
            islice(self.generations.references.values(), _LANGUAGE_SAMPLE)
        )
        try:
            tokenizer = tokens_by_name(tokens)
        except ModuleNotFoundError as error:
            raise SelectionError(
                f"This needs {error.name}, an extra: make env EXTRAS=zh"
            ) from error
        rater = next(iter(requested), None)
        return values | {"vary": vary, "base": base, "tokens": tokenizer, "rater": rater}

    def filter_phrases(self) -> Iterator[Phrase]:
        yield Phrase("all systems" if self.vary == ALL_SYSTEMS else f"systems by {self.vary}")
        if self.base:
            yield Phrase(f"base {self.base}")
        yield Phrase(f"rules {self.labels['rules']}")
        yield Phrase(f"tokens: {self.tokens.name}")
        if self.rater:
            rater = self.rater
            yield Phrase(f"answers by {rater.title}", rater.pk if rater.is_judge else None)

    @cached_property
    def options(self) -> MeasureSettings:
        return MeasureSettings(self.tokens, self.rules, self.rater.pk if self.rater else None)

    @cached_property
    def scorer(self) -> Scorer:
        return Scorer(self.generations, self.options)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Systems with the settings of the base, by the values of the varied one."""
        return tuple(_family(self.settings, self.vary, self.base))

    @cached_property
    def common_settings(self) -> dict[str, Any]:
        """Settings that all systems of the family share."""
        if self.vary == ALL_SYSTEMS or not self.base:
            return {}
        return {
            name: value for name, value in self.settings[self.base].items() if name != self.vary
        }

    def value(self, system: str) -> Any:
        """Return the value of the varied setting; the system's name where all are compared."""
        return system if self.vary == ALL_SYSTEMS else self.settings[system][self.vary]


def varying(settings: Mapping[str, Settings]) -> list[str]:
    """Return the names of settings with different values in two systems or more."""
    values: dict[str, set[str]] = defaultdict(set)
    for of_system in settings.values():
        for name, value in of_system.items():
            values[name].add(repr(value))
    return sorted(
        name for name, distinct in values.items() if len(distinct) > 1 and name != ALL_SYSTEMS
    )


def _having_setting(settings: Mapping[str, Settings], vary: str) -> list[str]:
    return [name for name, of_system in settings.items() if vary in (ALL_SYSTEMS, *of_system)]


def _family(settings: Mapping[str, Settings], vary: str, base: str) -> list[str]:
    """Return the systems with the base's settings except `vary`, ordered by its values.

    Numbers are ordered as numbers.
    """
    if vary == ALL_SYSTEMS or not base:
        return list(settings)
    fixed_settings = _other_settings(settings[base], vary)
    return _families(settings, vary).get(fixed_settings, [])


def _families(settings: Mapping[str, Settings], vary: str) -> dict[str, list[str]]:
    """Return the systems with `vary`, grouped by all other settings."""
    families: dict[str, list[str]] = defaultdict(list)
    for name in _having_setting(settings, vary):
        families[_other_settings(settings[name], vary)].append(name)
    return {
        fixed_settings: sorted(names, key=lambda name: (*_order(settings[name][vary]), name))
        for fixed_settings, names in families.items()
    }


def _other_settings(settings: Settings, vary: str) -> str:
    return repr(sorted((name, repr(value)) for name, value in settings.items() if name != vary))


def _order(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, str(value)


def _default_vary(settings: Mapping[str, Settings]) -> str:
    """Return the setting with the largest family, the first by name; else ALL_SYSTEMS."""
    sizes = {
        name: len(_family(settings, name, _default_base(settings, name)))
        for name in varying(settings)
    }
    largest = max(sizes.values(), default=0)
    return next((name for name, size in sizes.items() if size == largest > 1), ALL_SYSTEMS)


def _default_base(
    settings: Mapping[str, Settings], vary: str, written: Collection[str] = ()
) -> str:
    """Return the first system of the largest family, with `written` reports if there are any."""
    names = list(settings)
    if vary != ALL_SYSTEMS:
        names = max(_families(settings, vary).values(), key=len, default=[])
    return next((name for name in names if name in written), next(iter(names), ""))
