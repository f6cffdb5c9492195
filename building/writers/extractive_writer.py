"""Extractive baseline as a writer backend: rule-based, without a model."""

from __future__ import annotations

from collections.abc import Iterator

from building.writers.base import Ask, Outcome
from building.writing import extractive


class ExtractiveWriter:
    """Extractive baseline; its replies have the tags that a model is asked for."""

    def outcomes(self, asks: Iterator[Ask]) -> Iterator[Outcome]:
        for ask in asks:
            yield Outcome(
                ask,
                raw=extractive.write(ask.task.name, ask.task.whole(ask.source)),
                finish_reason="stop",
            )
