"""Generated tokens with probabilities, written in a line."""

import math
from collections.abc import Mapping, Sequence


class Generated:
    """Generated tokens, such as `("4", {"4": 0.9, "3": 0.1})`.

    Each is its text, and the probabilities of the likeliest tokens.
    """

    def __init__(self, *positions: tuple[str | bytes, Mapping[str, float]]) -> None:
        self._positions = positions

    def tokens(self) -> Sequence[str | bytes]:
        return [token for token, _ in self._positions]

    def alternatives(self, position: int) -> list[tuple[str, float]]:
        return [(token, math.log(share)) for token, share in self._positions[position][1].items()]
