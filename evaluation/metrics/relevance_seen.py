"""Rel and Rel': an output against all that is relevant, and against the relevant that was seen.

A generator can only use what its retriever showed it. Recall against Rel, all relevant items,
mixes the faults of both; recall against Rel', the relevant items among those seen, is the
generator's own. If the output names nothing unseen, the one is the other times |Rel'|/|Rel|.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

EMPTY_OUTPUT = "undefined, because the output is empty"
EMPTY_REL = "undefined, because nothing is relevant"
EMPTY_REL_PRIME = "undefined, because nothing relevant was seen"


@dataclass(frozen=True, slots=True)
class RelevanceSeen:
    """Precision and recall against Rel and against Rel', and what lies between them.

    `rel_prime` lists the relevant items that were seen, in sorted order; `ceiling` is their share
    of all relevant items, the most that the generator could recall. `unseen` lists the items of
    the output that were not seen: cited without having been retrieved. Each `n` is its denominator
    in items.
    """

    precision: Estimate
    recall: Estimate
    precision_seen: Estimate
    recall_seen: Estimate
    ceiling: Estimate
    rel_prime: tuple[str, ...]
    unseen: tuple[str, ...]

    @property
    def same_precision(self) -> bool:
        """Whether no unseen item of the output is relevant, so that both precisions are one."""
        return self.precision.value == self.precision_seen.value


def relevance_seen(
    output: Collection[str], relevant: Collection[str], seen: Collection[str]
) -> RelevanceSeen:
    """An output (answers, citations) against Rel = `relevant` and Rel' = `relevant` and `seen`.

    All three are names of items (passages, answers), taken as sets. The precisions of an empty
    output are undefined, as is recall where there is nothing to find; an output that finds nothing
    of something is 0.
    Source: Garigliotti (2024), RAGE-KG at ISWC, section 2, whose Out, Rel and Rel' these are.
    """
    out, rel, shown = set(output), set(relevant), set(seen)
    rel_prime = rel & shown
    return RelevanceSeen(
        precision=_share(out & rel, out, EMPTY_OUTPUT),
        recall=_share(out & rel, rel, EMPTY_REL),
        precision_seen=_share(out & rel_prime, out, EMPTY_OUTPUT),
        recall_seen=_share(out & rel_prime, rel_prime, EMPTY_REL_PRIME),
        ceiling=_share(rel_prime, rel, EMPTY_REL),
        rel_prime=tuple(sorted(rel_prime)),
        unseen=tuple(sorted(out - shown)),
    )


def _share(part: set[str], whole: set[str], why_empty: str) -> Estimate:
    if not whole:
        return Estimate(None, why_empty, 0)
    return Estimate(len(part) / len(whole), None, len(whole))
