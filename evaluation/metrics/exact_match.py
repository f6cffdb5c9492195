"""Exact match as in ALCE: gold answers in a text, and answer lists against gold lists.

A baseline: it knows the words of an answer and not what a text says of them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

NO_GOLD = "undefined, because there is no gold answer"
MAX_GOLD = 5  # gold answers that rec5 asks for

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Return the text in lower case, without ASCII punctuation and a, an, the; single spaces.

    Source: Rajpurkar et al. (2016), SQuAD; Gao et al. (2023), ALCE, utils.py.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def holds(text: str, aliases: Sequence[str]) -> bool:
    """Return True if the text contains an alias. Both are normalised by `normalised`.

    An empty alias is never contained.

    Source: ALCE, eval.py, exact_presence.
    """
    return any(alias in text for alias in aliases if alias)


def predictions(report: str) -> list[str]:
    """Return the normalised answers of a comma-separated list.

    In order, repeats kept; none that are empty.
    """
    parts = report.rstrip().rstrip(".").rstrip(",").split(",")
    return [answer for answer in (normalised(part.strip()) for part in parts) if answer]


def is_among(answers: Sequence[str], aliases: Sequence[str]) -> bool:
    """Return True if an alias is among the answers. Both are normalised by `normalised`."""
    return not set(aliases).isdisjoint(answers)


@dataclass(frozen=True, slots=True)
class ListScore:
    """A list of answers against the gold answers; `n` is what each value is a share of.

    `f1` and `f1_5` have no denominator of their own: their n is that of the recall.
    """

    precision: Estimate
    recall: Estimate
    recall_5: Estimate
    f1: Estimate
    f1_5: Estimate


LIST_MEASURES = ("precision", "recall", "recall_5", "f1", "f1_5")


def list_score(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> ListScore:
    """Score answers against the aliases of each gold answer: precision, recall and F1.

    Answers as `predictions` gives them; the aliases are normalised too.

    Precision is the share of the answers, repeats kept, that are an alias of any; 0 for no answer.
    Recall is the share of the gold answers of which an alias is an answer; recall_5 is min(5, hits) of
    min(5, gold answers). F1 is 0 where both are. Without gold answers all is undefined.
    Source: Gao et al. (2023), ALCE, section 3; eval.py, compute_qampari_f1.
    """
    if not gold:
        none = Estimate(None, NO_GOLD, 0)
        return ListScore(none, none, none, none, none)
    right = sum(any(answer in aliases for aliases in gold) for answer in answers)
    hits, n_required = sum(is_among(answers, aliases) for aliases in gold), min(MAX_GOLD, len(gold))
    precision = right / len(answers) if answers else 0.0
    recall, recall_5 = hits / len(gold), min(MAX_GOLD, hits) / n_required
    return ListScore(
        precision=Estimate(precision, None, len(answers)),
        recall=Estimate(recall, None, len(gold)),
        recall_5=Estimate(recall_5, None, n_required),
        f1=Estimate(_f1(precision, recall), None, len(gold)),
        f1_5=Estimate(_f1(precision, recall_5), None, n_required),
    )


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
