"""Rounding of numbers that people read: the one place for pages, drawings, LaTeX and the terminal.

Files that programs read (CSV, JSON) keep the digits instead.
"""

from __future__ import annotations

MINUS = "−"


def decimals(value: float, places: int = 2, *, sign: bool = False) -> str:
    """Return the number with so many decimals; what rounds to zero has no minus.

    Rounds the binary number to the nearest decimal, a tie to the even digit, as IEEE 754, C's printf
    and so trec_eval do: 4.25 is 4.2, 4.75 is 4.8. `sign` puts a plus before what is above zero.
    """
    rounded = f"{float(value):z.{places}f}"
    return f"+{rounded}" if sign and float(rounded) > 0 else rounded


def printed(value: float, places: int = 2, *, sign: bool = False) -> str:
    """The same for pages and drawings, with a minus sign in the place of the hyphen."""
    return decimals(value, places, sign=sign).replace("-", MINUS)


def compact(value: float, places: int = 1) -> str:
    """The same for pages, without zeros at the end: 2 and not 2.0."""
    whole = printed(value, places)
    return whole.rstrip("0").rstrip(".") if "." in whole else whole
