"""RAGQuestEval: questions from a reference, answered from it and from a generation.

Differences of the paper and its code (IAAR-Shanghai/CRUD_RAG, src/metric/quest_eval.py):

| | the paper | the code | |---|---|---| | questions | all | without those that the reference does
not answer | | the generation answers none | precision undefined (Figure 5) or 0 (eq. 2) | precision
0, recall 0 | | no question is left | not said | precision 0, recall 0 | | words of an answer | not
said | jieba's, as they are |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.metrics.tokenizers import Cut, english_words
from evaluation.stats.estimate import Estimate

PAPER, AUTHORS = "paper", "authors"
RULES = (PAPER, AUTHORS)
NO_QUESTIONS = "undefined, because there are no questions"
NONE_ANSWERED = "undefined, because the generation answers no question"

Answers = Sequence[str | None]
_FEW = 32  # tokens: up to there a list is searched sooner than a counter is made


@dataclass(frozen=True, slots=True)
class RagQuestEval:
    """Recall and the two precisions in use, and the F1 of each question, None if unanswered.

    `recall` is the share of questions that the generation answers. `precision` is the mean F1 over
    those (the paper's text and its Figure 5); `precision_eq2` divides the same sum by all
    questions, as equation 2 is printed, and so equals precision x recall. Each `n` is its
    denominator in questions.
    """

    recall: Estimate
    precision: Estimate
    precision_eq2: Estimate
    f1: tuple[float | None, ...]


def ragquesteval(
    references: Answers, generated: Answers, *, cut: Cut = english_words, rules: str = PAPER
) -> RagQuestEval:
    """Return RAGQuestEval of a generation: share (recall) and F1 (precision) of kept answers.

    `references` and `generated` are the answers to the same questions from the reference and from
    the generation; None = no answer there (<Unanswerable>). `cut` makes tokens of an answer.

    By the paper an answer where the reference has none has an F1 of 0, and its question stays in all
    denominators. No question: all undefined; none answered: recall and `precision_eq2` are 0,
    `precision` is undefined. By the authors' code questions that the reference does not answer are left
    out, with an F1 of None, and what is undefined is 0. Raises ValueError for lists of unequal length
    and for other rules.
    Source: CRUD-RAG (Lyu et al., 2024), section 3.6, eq. 1 and 2, Figure 5; the code as above.
    """
    if len(references) != len(generated):
        raise ValueError("every answer from the reference has one from the generation, or None")
    if rules not in RULES:
        raise ValueError(f"there are no rules {rules!r}, but {', '.join(RULES)}")
    f1 = answer_f1(references, generated, cut, dropped=rules == AUTHORS)
    n = sum(meant is not None for meant in references) if rules == AUTHORS else len(f1)
    scores = [score for score in f1 if score is not None]
    empty = NO_QUESTIONS if not n else NONE_ANSWERED
    return RagQuestEval(
        recall=_share(len(scores), n, empty, rules),
        precision=_share(sum(scores), len(scores), empty, rules),
        precision_eq2=_share(sum(scores), n, empty, rules),
        f1=f1,
    )


def answer_f1(
    references: Answers, generated: Answers, cut: Cut, *, dropped: bool
) -> tuple[float | None, ...]:
    """The token F1 of each question that the generation answers, None of the others.

    Where the reference has no answer it is 0; None if such questions are `dropped`.
    """
    return tuple(
        None
        if answer is None or (meant is None and dropped)
        else 0.0
        if meant is None
        else 1.0
        if answer == meant
        else bag_f1(cut(answer), cut(meant))
        for meant, answer in zip(references, generated, strict=True)
    )


def _share(part: float, of: int, empty: str, rules: str) -> Estimate:
    if of:
        return Estimate(part / of, None, of)
    return Estimate(0.0, None, 0) if rules == AUTHORS else Estimate(None, empty, 0)


def bag_f1(answer: Sequence[str], meant: Sequence[str]) -> float:
    """F1 of two bags of tokens, 0 to 1: a token counts as often as both have it.

    Two empty ones are equal (1), an empty one and another are not (0).
    Source: Rajpurkar et al. (2016), EMNLP, 2383-2392.
    """
    if not answer or not meant:
        return float(len(answer) == len(meant))
    return 2 * _common(answer, meant) / (len(answer) + len(meant))


def _common(answer: Sequence[str], meant: Sequence[str]) -> int:
    if len(meant) > _FEW:
        return (Counter(answer) & Counter(meant)).total()
    remaining = list(meant)
    for token in answer:
        if token in remaining:
            remaining.remove(token)
    return len(meant) - len(remaining)
