"""Golden cases, and their tolerance rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GOLDEN = Path(__file__).parents[1] / "golden"

# Files beside the families: values of the paper's own table.
NOT_FAMILIES = {"table1_tau"}

# What a result may leave out: figures beside the point of a case, such as a library's own answer.
MAY_LACK = {
    "any_rng_B10000",
    "category_shares",
    "gains",
    "ideal_gains",
    "ideal_order",
    "library_value",
    "minimum_cover_size",
    "n_items",
    "n_items_two_or_more",
}


def files() -> list[Path]:
    """Return the golden files, one per family."""
    return sorted(path for path in GOLDEN.glob("*.json") if path.stem not in NOT_FAMILIES)


def cases(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cases"]


def load(family: str) -> list[Any]:
    """Return the cases of one family as pytest parameters, each named by its id."""
    family_cases = cases(GOLDEN / f"{family}.json")
    return [pytest.param(case, id=case["id"].split("/", 1)[1]) for case in family_cases]


def differences(expected: Any, actual: Any, tolerance: float, path: str = "result") -> list[str]:
    """Return differences by the tolerance rule: numbers within tolerance, all else equal.

    Integers and floats are both numbers; true, false and null are not. A result may have fields
    that are not expected, and may lack those of MAY_LACK.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        lacking = expected.keys() - actual.keys() - MAY_LACK
        problems = [f"{path}.{name} is missing" for name in sorted(lacking)]
        for name in expected.keys() & actual.keys():
            problems += differences(expected[name], actual[name], tolerance, f"{path}.{name}")
        return problems
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = enumerate(zip(expected, actual, strict=True))
        return [
            difference
            for index, (expected_part, actual_part) in pairs
            for difference in differences(expected_part, actual_part, tolerance, f"{path}[{index}]")
        ]
    if _is_number(expected) and _is_number(actual):
        close = abs(actual - expected) <= tolerance * max(1, abs(expected))
    else:
        close = type(expected) is type(actual) and expected == actual
    return [] if close else [f"{path}: {actual!r}, not {expected!r}"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def assert_close(actual: Any, expected: float, tolerance: float) -> None:
    assert abs(actual - expected) <= tolerance * max(1, abs(expected)), (actual, expected)


def assert_estimate(
    actual: Any, expected: dict[str, Any], tolerance: float, reasons: dict[str, str]
) -> None:
    """Assert a value within tolerance, or None with the reason that `reasons` maps to."""
    if expected["value"] is None:
        assert actual.value is None
        assert reasons[expected["reason"]] in actual.reason
    else:
        assert actual.reason is None
        assert_close(actual.value, expected["value"], tolerance)


def ratings(values: Any) -> np.ndarray:
    """Convert ratings to a float array, with NaN for None."""
    return np.array(values, dtype=np.float64)
