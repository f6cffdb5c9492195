"""The baseline: sentences of the source, picked by rule. No model writes here, and none is named."""

from __future__ import annotations

from collections.abc import Iterator

from building.writers.base import Ask, Outcome
from building.writing import extractive


class ExtractiveWriter:
    """See WriterAtWork. Its replies have the tags that a model is asked for, and are read alike."""

    def outcomes(self, asks: Iterator[Ask]) -> Iterator[Outcome]:
        for ask in asks:
            yield Outcome(
                ask,
                raw=extractive.write(ask.task.name, ask.task.whole(ask.source)),
                finish_reason="stop",
            )
