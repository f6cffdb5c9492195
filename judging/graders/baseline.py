"""The lexical baseline as a grader. It needs no server, and it is not a model."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from judging.graders.lexical import NO_CONTENT_TERMS, LexicalGrader, banded
from judging.grading.pairs import Failure, Pair, Reply, State

AT_ONCE = 2_000


class BaselineGrader:
    """Grades by words in common; the raw reply is the covered share of idf, to four places."""

    def __init__(self, lexical: LexicalGrader) -> None:
        self.lexical = lexical

    def replies(self, pairs: Iterator[Pair]) -> Iterator[Reply | None]:
        while some := list(islice(pairs, AT_ONCE)):
            yield from self._grade(some)

    def _grade(self, pairs: list[Pair]) -> Iterator[Reply]:
        texts = {pair.text_id: pair.text for pair in pairs}
        questions = {pair.question_id: pair.question for pair in pairs}
        text_at = {key: at for at, key in enumerate(texts)}
        question_at = {key: at for at, key in enumerate(questions)}
        shares = self.lexical.cover_pairs(
            list(texts.values()),
            list(questions.values()),
            np.fromiter((text_at[pair.text_id] for pair in pairs), np.intp),
            np.fromiter((question_at[pair.question_id] for pair in pairs), np.intp),
        )
        has_grade = ~np.isnan(shares)
        grades = banded(np.where(has_grade, shares, 0.0))
        found = zip(pairs, shares.tolist(), grades.tolist(), has_grade.tolist(), strict=True)
        for pair, share, grade, is_graded in found:
            if not is_graded:
                yield Reply(pair, State.ERROR, failure=Failure.NO_TERMS, detail=NO_CONTENT_TERMS)
            else:
                yield Reply(pair, State.GRADED, grade, raw=f"{share:.4f}")
