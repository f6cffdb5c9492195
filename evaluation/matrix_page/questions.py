"""The questions of a topic as the columns of its matrix: whether each counts, and who answers it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import SubQuestion
from evaluation.metrics.grades import BoolArray
from evaluation.scoring.pools import Pool


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as a column. `status` says whether it counts, and who answers it first."""

    pk: int
    number: int
    body: str
    is_answerable: bool
    is_filtered: bool
    first_rank: int | None
    status: str


def asked_questions(pool: Pool, hits: BoolArray) -> tuple[AskedQuestion, ...]:
    """The questions in the order of the pool's columns; one query.

    `hits` is where the ranks of a context answer answerable questions, ranks x questions.
    """
    words = SubQuestion.objects.in_bulk([question.pk for question in pool.questions])
    n_answers = (pool.grades >= pool.eta).sum(axis=0).tolist()
    counted = set(pool.answerable)
    found = []
    for at, question in enumerate(pool.questions):
        ranks = np.flatnonzero(hits[:, at]).tolist()
        first = ranks[0] + 1 if ranks else None
        asked = words[question.pk]
        found.append(
            AskedQuestion(
                pk=question.pk,
                number=asked.number,
                body=str(asked),
                is_answerable=at in counted,
                is_filtered=asked.is_filtered,
                first_rank=first,
                status=_status(asked.filtered_because, at in counted, n_answers[at], first),
            )
        )
    return tuple(found)


def _status(filtered_because: str, counts: bool, n: int, first: int | None) -> str:
    filtered = f"filtered, {filtered_because}" if filtered_because else ""
    if not counts:
        return f"{filtered or 'no passage of P* answers it'}; never counts"
    met = f"first at rank {first}" if first else "not answered here"
    who = "1 passage of P* answers it" if n == 1 else f"{n} passages of P* answer it"
    yet = f"; {filtered}, yet it counts here, as a passage answers it" if filtered else ""
    return f"{met}; {who}{yet}"
