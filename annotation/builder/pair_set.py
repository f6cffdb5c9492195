"""Sets of pairs that a campaign asks about, chosen on another page, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.errors import UserError
from annotation.models import Campaign, Dataset, Rubric

MAX_PAIRS = 5_000


class PairSetError(UserError):
    """A set of pairs that no campaign can ask about; the message says why."""


@dataclass(frozen=True)
class PairSet:
    """Pairs of texts and questions, by keys, and why these.

    `reason` completes "These pairs were chosen because ...". Only pairs that were drawn at random may
    enter an estimate for the dataset.
    """

    rubric: Rubric
    pairs: Sequence[tuple[int, int]]
    reason: str
    is_random: bool
    title: str
    n_people: int | None = None
    """People that each pair needs; None: the default of a campaign."""

    def selection(self, dataset: Dataset) -> dict[str, Any]:
        """Return the selection of a campaign: the pairs whose texts are of the most frequent kind.

        Raises PairSetError without a pair, or with more than MAX_PAIRS.
        """
        if not self.pairs:
            raise PairSetError("There are no pairs to ask about.")
        if len(self.pairs) > MAX_PAIRS:
            raise PairSetError(
                f"These are {len(self.pairs):,} pairs: a campaign takes {MAX_PAIRS:,} chosen ones."
            )
        texts = dataset.texts.filter(pk__in={text for text, _ in self.pairs})
        kind_of = dict(texts.values_list("pk", "kind"))
        kinds = Counter(kind_of[text] for text, _ in self.pairs if text in kind_of)
        kind = kinds.most_common(1)[0][0]
        return {
            "kind": kind,
            "pairs": [list(pair) for pair in self.pairs if kind_of.get(pair[0]) == kind],
            "reason": self.reason,
            "is_random": self.is_random,
        }


def questions_of_pairs(campaign: Campaign) -> dict[int, set[int]]:
    """Return the questions of each text that a campaign was given; {} if it draws its own."""
    questions: dict[int, set[int]] = {}
    for text, question in campaign.selection.get("pairs", ()):
        questions.setdefault(text, set()).add(question)
    return questions
