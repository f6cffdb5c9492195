"""Generated tokens with probabilities, written in a line."""

import math
from collections.abc import Mapping, Sequence


class Generated:
    """`("4", {"4": 0.9, "3": 0.1})` for each token: its text, and probabilities of the likeliest."""

    def __init__(self, *positions: tuple[str | bytes, Mapping[str, float]]) -> None:
        self._positions = positions

    def tokens(self) -> Sequence[str | bytes]:
        return [token for token, _ in self._positions]

    def alternatives(self, position: int) -> list[tuple[str, float]]:
        return [(token, math.log(share)) for token, share in self._positions[position][1].items()]
