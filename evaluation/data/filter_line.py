"""Part of the line of words above the numbers of a page: from what they are computed."""

from typing import NamedTuple


class Phrase(NamedTuple):
    """Words for one choice. A judge in them is marked by whether people have tested it.

    `judge` is the key of its rater, `rubric` that of the rubric of people whom it is compared with.
    """

    text: str
    judge: int | None = None
    rubric: int | None = None
