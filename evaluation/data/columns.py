"""Columns of the rating matrix: a rater as a column of what is compared."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import Rater

ALPHABET = "ABCDEFGHIKLMNOPQRSTUVWXYZ"  # without J


JUDGE = -1


@dataclass(frozen=True, slots=True)
class Column:
    """A rater as a column of the matrix. Its letter and its mark stay the same on every page."""

    pk: int
    name: str
    kind: str
    place: int
    """Its place among all raters of the rubric, people first; JUDGE for the judge."""
    is_adjudicator: bool = False
    """A person who decided in sight of the others' grades."""

    @property
    def is_person(self) -> bool:
        return self.kind == Rater.Kind.HUMAN

    @property
    def is_judge(self) -> bool:
        """A model or a baseline. An aggregate is neither: it says what others said."""
        return self.kind in (Rater.Kind.MODEL, Rater.Kind.BASELINE)

    @property
    def title(self) -> str:
        """The name as it is shown: a baseline and an aggregate are always called so."""
        labelled_kinds = (Rater.Kind.BASELINE, Rater.Kind.AGGREGATE)
        return f"{self.name} ({self.kind})" if self.kind in labelled_kinds else self.name

    @property
    def letter(self) -> str:
        """A, B, C and so on, then A2: for margins, where a name has no room. J is the judge."""
        if self.place == JUDGE:
            return "J"
        turn, index = divmod(self.place, len(ALPHABET))
        return f"{ALPHABET[index]}{turn + 1 if turn else ''}"

    @property
    def mark(self) -> int:
        """Return the number of the colour of its spans: 1 to 7, and 8 for the judge."""
        return 8 if self.place == JUDGE else self.place % 7 + 1


def independent(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The people among them who rated on their own: adjudicators saw what the others had said."""
    return tuple(c for c in columns if c.is_person and not c.is_adjudicator)
