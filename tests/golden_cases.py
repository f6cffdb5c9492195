"""Reads the golden cases and applies their tolerance rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GOLDEN = Path(__file__).parent / "golden"


def load(family: str) -> list[Any]:
    """The cases of one family as pytest parameters, each named by its id."""
    cases = json.loads((GOLDEN / f"{family}.json").read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["id"].split("/", 1)[1]) for case in cases]


def assert_close(actual: Any, expected: float, tolerance: float) -> None:
    assert abs(actual - expected) <= tolerance * max(1, abs(expected)), (actual, expected)


def assert_estimate(
    actual: Any, expected: dict[str, Any], tolerance: float, reasons: dict[str, str]
) -> None:
    """The value within tolerance, or None with the reason that `reasons` gives for the code."""
    if expected["value"] is None:
        assert actual.value is None
        assert reasons[expected["reason"]] in actual.reason
    else:
        assert actual.reason is None
        assert_close(actual.value, expected["value"], tolerance)


def ratings(values: Any) -> np.ndarray:
    """Ratings with None for missing as a float array with NaN for missing."""
    return np.array(values, dtype=np.float64)
