"""annotation.decimals: the one place where numbers that people read are rounded."""

import re
from pathlib import Path

import pytest

from annotation.decimals import compact, decimals, printed

ROOT = Path(__file__).parents[2]
# What is no result: lengths of drawings, durations, rates and money.
DRAWING_NAMES = re.compile(r"minutes|seconds|hours|rate|money|per_item|per_hour|by_chance")


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (4.25, 1, "4.2"),
        (4.75, 1, "4.8"),
        (0.125, 2, "0.12"),
        (0.375, 2, "0.38"),
        (-0.004, 2, "0.00"),
        (-1.5, 2, "-1.50"),
        (2, 0, "2"),
    ],
)
def test_rounding_of_ties_and_zeros(value, digits, expected):
    assert decimals(value, digits) == expected
    assert printed(value, digits) == expected.replace("-", "−")


def test_sign_is_printed_except_at_zero():
    assert [printed(value, sign=True) for value in (0.5, -0.5, 0, -0.001, 0.001)] == [
        *("+0.50", "−0.50", "0.00", "0.00", "0.00")
    ]


def test_compact_numbers_have_no_zeros_at_the_end():
    assert [compact(value) for value in (2.0, 4.25, 10, 0.0)] == ["2", "4.2", "10", "0"]


def test_templates_of_results_round_in_no_other_way():
    violations = [
        f"{path.name}: {match}"
        for path in (ROOT / "templates" / "evaluation").rglob("*.html")
        for match in re.findall(r'[\w.]+\|floatformat:"?-?[1-9]', path.read_text())
        if not DRAWING_NAMES.search(match)
    ]
    assert violations == []


def test_code_of_results_rounds_in_no_other_way():
    violations = [
        f"{path.name}: {line.strip()}"
        for path in (ROOT / "evaluation").rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(r":[+z]*\.[2-9]f\}", line) and "rstrip" not in line
    ]
    assert violations == []
