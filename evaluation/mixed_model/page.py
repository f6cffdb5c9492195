"""The numbers of the page: the model's contrasts, each beside the test of equivalence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.data.cache import cached
from evaluation.mixed_model.params import ModelChoice
from evaluation.stats.equivalence import Equivalence, equivalence
from evaluation.stats.estimate import Estimate
from evaluation.stats.mixed_model import Contrast, MixedModel, mixed_model
from evaluation.stats.randomisation import holm

ALPHA = 0.05
WORDS = {
    "topic": "topic: some requests are harder",
    "rater": "rater: some say yes more often",
    "system and topic": "system and topic: a text is better than its system and its topic are",
    "residual": "residual: the same text, another rater",
}


@dataclass(frozen=True)
class Against:
    """A system against the base: by the model (None without one), and the test of equivalence."""

    system: str
    mean: Estimate
    """Of its finished values, each counting once."""
    contrast: Contrast | None
    equivalence: Equivalence
    p_holm: float | None
    """Of the equivalences of all systems together."""

    @property
    def says(self) -> str:
        """What both tests come to, in words."""
        differs = self.contrast is not None and (self.contrast.p_holm or 0.0) < ALPHA
        if self.p_holm is not None and self.p_holm < ALPHA:
            return "differs, by less than the margin" if differs else "equivalent"
        return "differs" if differs else "neither is shown"


@dataclass(frozen=True)
class ModelReport:
    """The model, and every system but the base."""

    model: MixedModel
    base_mean: Estimate | None
    rows: tuple[Against, ...]

    @property
    def components(self) -> list[tuple[str, float | None, float | None]]:
        """What varies in words, its variance, and its share of all; None for what cannot be told."""
        total = sum(value or 0.0 for value in self.model.components.values())
        return [
            (WORDS[name], value, None if value is None else value / total)
            for name, value in self.model.components.items()
        ]


def model_report(choice: ModelChoice) -> ModelReport:
    """The numbers of a state of the page, kept until the data change."""
    selection = choice.selection
    key = (
        *("mixed model", selection.rubric.pk, selection.campaign and selection.campaign.pk),
        *(selection.raters, selection.eta, choice.outcome, choice.base, choice.margin),
    )
    return cached(selection.dataset, key, lambda: _report(choice))


def _report(choice: ModelChoice) -> ModelReport:
    values = choice.values
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


def _mean(choice: ModelChoice, system: str) -> Estimate:
    values = choice.values
    here = values.values[[name == system for name in values.systems]]
    return Estimate(float(here.mean()), None, len(here))
