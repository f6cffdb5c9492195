"""Hidden gold: which gold texts a participant meets, in which of their parts, and when too little is right.

A gold text is shown like any other, may go to everybody, and takes no place of the study. No Django here.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

LOW = 0.6  # of gold answers on the right side of eta, below which there is reason to look
ENOUGH = 5  # gold answers of a person, below which a share says little


@dataclass(frozen=True, slots=True)
class Terms:
    """How a campaign hands out its gold texts.

    `drawn`: how many there are; `per_person`: how many one person meets over all their parts (None:
    one in each part, until all are met); `parts`: how many parts one person can do, if everything
    is left for them; `is_cut`: whether the study is cut into parts at all.
    """

    drawn: int
    per_person: int | None
    parts: int
    is_cut: bool

    @property
    def met(self) -> int:
        """How many a person meets who does all their parts."""
        return self.by_end_of(self.parts)

    def by_end_of(self, number: int) -> int:
        """How many a person has met at the end of their part of that number, from 1."""
        if not self.is_cut:
            return self.drawn if self.per_person is None else self.per_person
        if self.per_person is None:
            return min(number, self.drawn)
        return -(-self.per_person * min(number, self.parts) // self.parts)

    def due(self, number: int, had: int) -> int:
        """How many new ones come into the part of that number, of somebody who was given `had` before."""
        if self.is_cut and self.per_person is None:
            return min(1, self.drawn - had)
        return max(0, self.by_end_of(number) - had)


def terms(
    *,
    drawn: int,
    per_person: int | None,
    items: int,
    items_per_part: int | None,
    max_parts: int | None,
) -> Terms:
    """The terms of a campaign with so many gold texts and so many study items."""
    parts = parts_each(items, items_per_part, max_parts)
    return Terms(drawn, per_person, parts, is_cut=bool(items_per_part))


def parts_each(items: int, items_per_part: int | None, max_parts: int | None) -> int:
    """How many parts hold a study's items once, or as many as one person may do; one at least."""
    parts = -(-items // (items_per_part or items)) if items else 1
    return min(parts, max_parts or parts)


def next_of(seed: int, drawn: Sequence[int], had: Collection[int], number: int) -> list[int]:
    """The next gold texts of a person who had some of them: the first of an order of their own.

    `seed` is the participant's, so that the order can be redone; `drawn` all gold texts of the campaign in
    their order there.
    """
    order = random.Random(f"{seed}:gold")  # noqa: S311 - a recorded order
    mine = order.sample(drawn, len(drawn))
    return [item for item in mine if item not in had][:number]
