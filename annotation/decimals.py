"""Rounding of numbers for display: pages, drawings, LaTeX and the terminal.

Files that programs read (CSV, JSON) keep the digits instead.
"""

from __future__ import annotations

MINUS = "−"


def decimals(value: float, digits: int = 2, *, sign: bool = False) -> str:
    """Return the number with so many decimals; a number that rounds to zero has no minus.

    Rounds the binary number to the nearest decimal, a tie to the even digit, as IEEE 754, C's printf
    and so trec_eval do: 4.25 is 4.2, 4.75 is 4.8. `sign` puts a plus before a number above zero.
    """
    rounded = f"{float(value):z.{digits}f}"
    return f"+{rounded}" if sign and float(rounded) > 0 else rounded


def printed(value: float, digits: int = 2, *, sign: bool = False) -> str:
    """Format as `decimals`, for pages and drawings, with a minus sign in place of the hyphen."""
    return decimals(value, digits, sign=sign).replace("-", MINUS)


def compact(value: float, digits: int = 1) -> str:
    """Format as `printed`, without trailing zeros: 2 and not 2.0."""
    whole = printed(value, digits)
    return whole.rstrip("0").rstrip(".") if "." in whole else whole
