"""RAGQuestEval: questions from a reference, answered from the reference and from a generation."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

NO_QUESTIONS = "undefined, because there are no questions"
NONE_ANSWERED = "undefined, because the generation answers no question"

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


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


def ragquesteval(references: Sequence[str | None], generated: Sequence[str | None]) -> RagQuestEval:
    """How much of the reference a generation keeps (recall), and how exactly (precision).

    `references` and `generated` are the answers to the same questions from the reference and from
    the generation; None = no answer there (<Unanswerable>). An answer where the reference has none
    has an F1 of 0, and its question stays in all denominators. No question: all
    undefined; none answered: recall and `precision_eq2` are 0, `precision` is undefined. Raises
    ValueError for lists of unequal length.
    Source: CRUD-RAG (Lyu et al., 2024), section 3.6, eq. 1 and 2, Figure 5.
    """
    if len(references) != len(generated):
        raise ValueError("every answer from the reference has one from the generation, or None")
    pairs = zip(references, generated, strict=True)
    f1 = tuple(None if answer is None else _f1_of(answer, meant) for meant, answer in pairs)
    scores = [score for score in f1 if score is not None]
    if not f1:
        none = Estimate(None, NO_QUESTIONS, 0)
        return RagQuestEval(none, none, none, f1)
    precision = Estimate(None, NONE_ANSWERED, 0)
    if scores:
        precision = Estimate(sum(scores) / len(scores), None, len(scores))
    return RagQuestEval(
        recall=Estimate(len(scores) / len(f1), None, len(f1)),
        precision=precision,
        precision_eq2=Estimate(sum(scores) / len(f1), None, len(f1)),
        f1=f1,
    )


def _f1_of(generated: str, reference: str | None) -> float:
    return 0.0 if reference is None else token_f1(generated, reference)


def token_f1(generated: str, reference: str) -> float:
    """F1 of two answers as bags of words, 0 to 1: a word counts as often as both have it.

    Words are compared in lower case, without ASCII punctuation and the articles a, an, the; they
    are what white space separates, so Chinese, say, must be cut into words first. Two answers
    without a word left are equal (1), one such answer and another are not (0).
    Source: Rajpurkar et al. (2016), EMNLP, 2383-2392; the evaluation script of SQuAD 2.0.
    """
    answer, meant = _words(generated), _words(reference)
    if not answer or not meant:
        return float(answer == meant)
    common = (Counter(answer) & Counter(meant)).total()
    return 2 * common / (len(answer) + len(meant))


def _words(answer: str) -> list[str]:
    return _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split()
