"""Precision and recall against Rel (all relevant items) and Rel' (those retrieved).

A generator can only use what its retriever returned. Recall against Rel, all relevant items, mixes
the faults of both; recall against Rel', the relevant items among those retrieved, is the
generator's own. If the output names only retrieved items, recall is recall' times |Rel'|/|Rel|.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeVar

from evaluation.stats.estimate import Estimate

Item = TypeVar("Item", str, int)
Rules = Literal["paper", "authors"]
RULES: tuple[Rules, ...] = ("paper", "authors")
EMPTY_OUTPUT = "undefined, because the output is empty"
EMPTY_REL = "undefined, because nothing is relevant"
EMPTY_REL_PRIME = "undefined, because no relevant item was retrieved"
UNKNOWN_SEEN = "undefined, because the retrieved items are not known"
MEASURES = ("precision", "recall", "recall_seen", "ceiling", "precision_seen")


@dataclass(frozen=True, slots=True)
class RelevanceSeen:
    """Precision and recall against Rel and against Rel', and the ratio that links them.

    `rel_prime` lists the relevant items that were retrieved, in sorted order; `ceiling` is their
    share of all relevant items, the most that the generator could recall. `not_retrieved` lists the
    items of the output that were not retrieved, though cited. Each value is a share of its `n`, in
    items.
    """

    precision: Estimate
    recall: Estimate
    precision_seen: Estimate
    recall_seen: Estimate
    ceiling: Estimate
    rel_prime: tuple[str | int, ...]
    not_retrieved: tuple[str | int, ...]

    @property
    def same_precision(self) -> bool:
        """Return True if both precisions are equal: all relevant items of the output were
        retrieved.
        """
        return self.precision.value == self.precision_seen.value

    def measure(self, name: str) -> Estimate:
        """Return the estimate of this name of MEASURES."""
        estimate = getattr(self, name)
        assert isinstance(estimate, Estimate)
        return estimate


def relevance_seen(
    output: Collection[Item],
    relevant: Collection[Item],
    retrieved: Collection[Item] | None,
    rules: Rules = "paper",
) -> RelevanceSeen:
    """Score an output (answers, citations) against Rel and Rel'.

    Rel is `relevant`; Rel' is what `relevant` and `retrieved` have in common.

    All three are names of items (passages, answers), taken as sets. The precisions of an empty
    output are undefined, as is recall where there is nothing to find; an output that finds nothing
    of something is 0. Where `retrieved` is None, nothing that takes Rel' is defined.
    Under "authors", as in ALCE's code, an item that the output names twice counts twice in
    both precisions, and these are 0 for an empty output.
    Source: Garigliotti (2024), RAGE-KG at ISWC, section 2, whose Out, Rel and Rel' these are; Gao et
    al. (2023), ALCE, eval.py for the rules of the authors.
    """
    mentions = list(output) if rules == "authors" else list(set(output))
    out, rel = set(output), set(relevant)
    retrieved_items = out if retrieved is None else set(retrieved)
    rel_prime = rel & retrieved_items
    scores = RelevanceSeen(
        precision=_precision(mentions, rel, rules),
        recall=_share(len(out & rel), len(rel), EMPTY_REL),
        precision_seen=_precision(mentions, rel_prime, rules),
        recall_seen=_share(len(out & rel_prime), len(rel_prime), EMPTY_REL_PRIME),
        ceiling=_share(len(rel_prime), len(rel), EMPTY_REL),
        rel_prime=tuple(sorted(rel_prime)),
        not_retrieved=tuple(sorted(out - retrieved_items)),
    )
    return scores if retrieved is not None else _undefine_rel_prime(scores)


def _undefine_rel_prime(scores: RelevanceSeen) -> RelevanceSeen:
    unknown = Estimate(None, UNKNOWN_SEEN, 0)
    return RelevanceSeen(scores.precision, scores.recall, unknown, unknown, unknown, (), ())


def _precision(mentions: list[Item], right: set[Item], rules: Rules) -> Estimate:
    if not mentions and rules == "authors":
        return Estimate(0.0, None, 0)
    return _share(sum(item in right for item in mentions), len(mentions), EMPTY_OUTPUT)


def _share(part: int, whole: int, why_empty: str) -> Estimate:
    if not whole:
        return Estimate(None, why_empty, 0)
    return Estimate(part / whole, None, whole)
