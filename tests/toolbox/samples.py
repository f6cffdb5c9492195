"""Samples of similar cases; ALL_CASES=1 in the environment, as in `make soak`, keeps all."""

import os
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")

ALL_CASES = "ALL_CASES" in os.environ


def sample(cases: Iterable[Case], size: int = 3) -> list[Case]:
    """Return the first cases and the last one, at most `size` of them."""
    listed = list(cases)
    if ALL_CASES or len(listed) <= size:
        return listed
    return [*listed[: size - 1], listed[-1]]
