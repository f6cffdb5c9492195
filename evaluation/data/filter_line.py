"""Part of the line of words above the numbers of a page: from what they are computed."""

from typing import NamedTuple


class Phrase(NamedTuple):
    """Words for one choice. A judge in them is marked by whether people have tested it."""

    text: str
    has_judge: bool = False
