"""Hidden gold items: selection by participant and part, and the threshold for review.

A gold text is shown like any other, may go to everybody, and takes no slot of the study. No Django here.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

LOW = 0.6  # of gold answers on the right side of eta, below which there is a reason for review
ENOUGH = 5  # gold answers of a person, below which a share says little


@dataclass(frozen=True, slots=True)
class Terms:
    """Distribution of a campaign's gold items over the parts of a person.

    `drawn`: how many there are; `per_person`: how many one person meets over all their parts (None:
    one in each part, until all are met); `parts`: how many parts one person can do, if everything
    is left for them; `is_cut`: whether the study is cut into parts at all.
    """

    drawn: int
    per_person: int | None
    parts: int
    is_cut: bool

    @property
    def n_met(self) -> int:
        """Number of gold items that a person meets who does all their parts."""
        return self.by_end_of(self.parts)

    def by_end_of(self, number: int) -> int:
        """Return the gold items met by the end of a person's part of that number, from 1."""
        if not self.is_cut:
            return self.drawn if self.per_person is None else self.per_person
        if self.per_person is None:
            return min(number, self.drawn)
        return -(-self.per_person * min(number, self.parts) // self.parts)

    def n_new(self, number: int, had: int) -> int:
        """Return the number of new gold items in that part, for a person who had `had` before."""
        if self.is_cut and self.per_person is None:
            return min(1, self.drawn - had)
        return max(0, self.by_end_of(number) - had)


def terms(
    *,
    n_gold: int,
    per_person: int | None,
    items: int,
    items_per_part: int | None,
    max_parts: int | None,
) -> Terms:
    """Return the terms of a campaign with so many gold items and so many study items."""
    parts = parts_each(items, items_per_part, max_parts)
    return Terms(n_gold, per_person, parts, is_cut=bool(items_per_part))


def parts_each(items: int, items_per_part: int | None, max_parts: int | None) -> int:
    """Return the number of parts one person can do, at least 1.

    These are the parts that hold a study's items once, or the limit of parts if it is lower.
    """
    parts = -(-items // (items_per_part or items)) if items else 1
    return min(parts, max_parts or parts)


def next_items(
    seed: int, gold_items: Sequence[int], had: Collection[int], number: int
) -> list[int]:
    """Return the next gold items of a person who had some: the first of their own order.

    `seed` is the participant's, so that the order can be redone; `drawn` all gold texts of the campaign in
    their order there.
    """
    order = random.Random(f"{seed}:gold")  # noqa: S311 - a recorded order
    own_order = order.sample(gold_items, len(gold_items))
    return [item for item in own_order if item not in had][:number]
