"""Report of the mixed model page: contrasts, each with its equivalence test."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey, Key
from evaluation.mixed_model.query import ModelQuery
from evaluation.stats.equivalence import Equivalence, equivalence
from evaluation.stats.estimate import Estimate
from evaluation.stats.mixed_model import Contrast, MixedModel, mixed_model
from evaluation.stats.randomisation import holm

ALPHA = 0.05
CONFOUNDED = "undefined, because it is part of the residual"
COMPONENT_LABELS = {
    "topic": "topic: some requests are harder than others",
    "rater": "rater: some give higher grades than others",
    "system and topic": "system × topic: one text is better than its system and its topic suggest",
    "residual": "residual: the same text, another rater",
}


@dataclass(frozen=True)
class Against:
    """Comparison of a system with the base: contrast (None without a model), and equivalence."""

    system: str
    mean: Estimate
    """Mean of its finished values, each counting once."""
    contrast: Contrast | None
    equivalence: Equivalence
    p_holm: float | None
    """P value of the equivalence test, adjusted over all systems."""

    @property
    def p_reason(self) -> str | None:
        """The reason why the test of equivalence has no p."""
        return self.equivalence.p_reason or self.equivalence.reason

    @property
    def says(self) -> str:
        """Conclusion from both tests."""
        differs = self.contrast is not None and (self.contrast.p_holm or 0.0) < ALPHA
        if self.p_holm is not None and self.p_holm < ALPHA:
            return "differs, by less than the margin" if differs else "equivalent"
        return "differs" if differs else "inconclusive"


@dataclass(frozen=True)
class ModelReport:
    """Fitted model, and all systems but the base."""

    model: MixedModel
    base_mean: Estimate | None
    rows: tuple[Against, ...]

    @property
    def components(self) -> list[tuple[str, float | None, float | None]]:
        """Label, variance and share of the total of each component; None where not estimable."""
        total = sum(value or 0.0 for value in self.model.components.values())
        return [
            (COMPONENT_LABELS[name], value, None if value is None else value / total)
            for name, value in self.model.components.items()
        ]


def model_report(choice: ModelQuery) -> ModelReport:
    """Return the report of a choice, cached until the data change."""
    selection = choice.selection
    key: Key = (CacheKey.MIXED_MODEL, selection.key, choice.cache_key)
    return cached(selection.dataset, key, lambda: _report(choice))


def _report(choice: ModelQuery) -> ModelReport:
    values = choice.system_values
    model = mixed_model(values.values, values.systems, values.topics, values.raters, choice.base)
    contrasts = {contrast.system: contrast for contrast in model.contrasts}
    base = values.by_topic.get(choice.base, np.empty(0))
    rows = [
        Against(
            name,
            _mean(choice, name),
            contrasts.get(name),
            equivalence(means, base, choice.margin),
            None,
        )
        for name, means in values.by_topic.items()
        if name != choice.base
    ]
    tests = [np.nan if row.equivalence.p is None else row.equivalence.p for row in rows]
    adjusted = [None if np.isnan(p) else p for p in holm(tests).tolist()]
    return ModelReport(
        model,
        _mean(choice, choice.base) if choice.base else None,
        tuple(replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)),
    )


def _mean(choice: ModelQuery, system: str) -> Estimate:
    values = choice.system_values
    of_system = values.values[values.of_system(system)]
    return Estimate(float(of_system.mean()), None, len(of_system))
