"""The topics of a dataset as rows: what each one's matrix holds, and what the chosen runs cover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.matrix.params import MatrixChoice
from evaluation.scoring.score import cached_scores
from evaluation.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic. `n_unrated` of its `n_pairs` pairs of a passage of P* and a question have no grade.

    `coverage` is by name of the run, in the order in which they are listed; None where the run
    ranks nothing for the topic.
    """

    pk: int
    name: str
    n_questions: int
    n_answerable: int
    n_passages: int
    n_required: int
    n_pairs: int
    n_unrated: int
    coverage: tuple[tuple[str, Estimate | None], ...]


def topic_rows(choice: MatrixChoice) -> list[TopicRow]:
    """All topics, in the order of the dataset."""
    scores = cached_scores(choice.dataset, choice.options)
    runs = {name: scores.by_name[name].topics for name in choice.listed}
    return [
        TopicRow(
            pk=pk,
            name=pool.topic_name,
            n_questions=len(pool.questions),
            n_answerable=len(pool.answerable),
            n_passages=len(pool.passages),
            n_required=len(pool.required),
            n_pairs=pool.grades.size,
            n_unrated=int(np.isnan(pool.grades).sum()),
            coverage=tuple(
                (name, of[pool.topic_name].coverage if pool.topic_name in of else None)
                for name, of in runs.items()
            ),
        )
        for pk, pool in scores.pools.items()
    ]
