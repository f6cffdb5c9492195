"""Number formats of spreadsheets: texts of numbers with leading zeros or in percent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

# Date formats of East Asian editions, which no file spells out: ECMA-376, part 1, 18.8.30.
EAST_ASIAN_DATES = frozenset((*range(27, 37), *range(50, 59)))

_MAX_FORMAT = 255  # characters; a spreadsheet program allows no more
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|_.|\[([^\]]*)\]|(.)', re.DOTALL)
_COLOUR = re.compile(r"(?:black|blue|cyan|green|magenta|red|white|yellow|colou?r ?\d+|\$-.*)", re.I)
_PLACEHOLDERS = "0#?"
_BARE_LITERALS = " -+():!^&'~{}<>="  # `/` makes a fraction; other signs need quotes or a backslash
_CURRENCIES = "$€£¥"


@dataclass(frozen=True, slots=True)
class _Section:
    """Section of a format: placeholders (`0`, `#`) and literal texts in their order."""

    tokens: tuple[tuple[bool, str], ...]  # (is a placeholder, sign or literal)
    is_percent: bool

    def display(self, number: float) -> str | None:
        """Return the text of a number that is not negative."""
        if self.is_percent:
            return self._display_percent(number)
        return self._display_digits(int(number)) if number == int(number) else None

    def _display_digits(self, number: int) -> str:
        """Fill the placeholders from the right; the leftmost takes all digits that are left."""
        digit_signs = [sign for is_digit, sign in self.tokens if is_digit]
        digits = str(number) if number else ""
        digits = digits.zfill(sum(sign == "0" for sign in digit_signs))
        pieces: list[str] = []
        n_left = len(digit_signs)
        for is_digit, text in reversed(self.tokens):
            if not is_digit:
                pieces.append(text)
                continue
            n_left -= 1
            pieces.append(digits if n_left == 0 else digits[-1:])
            digits = digits[:-1]
        return "".join(reversed(pieces))

    def _display_percent(self, number: float) -> str | None:
        digit_signs = "".join(sign for is_digit, sign in self.tokens if is_digit)
        whole, _, decimals = digit_signs.partition(".")
        try:
            percent = (Decimal(repr(number)) * 100).quantize(
                Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP
            )
        except InvalidOperation:  # more digits than a decimal has
            return None
        digits, point, fraction = f"{percent:f}".partition(".")
        while len(fraction) > decimals.count("0") and fraction.endswith("0"):
            fraction = fraction[:-1]
        digits = digits.zfill(max(whole.count("0"), 1))
        text = digits + (point + fraction if fraction else "")
        first = next(i for i, (is_digit, _) in enumerate(self.tokens) if is_digit)
        prefix = "".join(text for is_digit, text in self.tokens[:first] if not is_digit)
        suffix = "".join(text for is_digit, text in self.tokens[first:] if not is_digit)
        return prefix + text + suffix


def display_number(number: float, number_format: str) -> str | None:
    """Return the text of a cell, or None if its format rounds or groups at most.

    Covers whole numbers with leading zeros or literal signs (`00000`, `"D-"000`) and percent.
    """
    if number_format == "General" or len(number_format) > _MAX_FORMAT:
        return None
    sections = _parse_format(number_format)
    is_negative = number < 0
    index = 1 if is_negative else 2 if number == 0 else 0
    section = sections[index if index < len(sections) else 0]
    if section is None:
        return None
    text = section.display(abs(number))
    # A second section says itself how it tells a negative number.
    return f"-{text}" if text and is_negative and len(sections) < 2 else text


@lru_cache(maxsize=1024)
def is_date_only(number_format: str) -> bool:
    """Return True if a format of dates tells no time of day."""
    signs = "".join(token[4] or "" for token in _TOKEN.finditer(number_format))
    return not set(signs.lower()) & {"h", "s"}


@lru_cache(maxsize=1024)  # a file uses few formats, each for many cells
def _parse_format(number_format: str) -> tuple[_Section | None, ...]:
    sections: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(number_format):
        if token[4] == ";":
            sections.append([])
        else:
            sections[-1].append(token)
    return tuple(_parse_section(section) for section in sections)


def _parse_section(matches: list[re.Match[str]]) -> _Section | None:
    """Parse one section; None if it shows the number itself, or in a way that is not covered."""
    tokens: list[tuple[bool, str]] = []
    is_percent = False
    for match in matches:
        quoted, escaped, bracketed, sign = match.groups()
        if bracketed is not None:
            if not _COLOUR.fullmatch(bracketed):  # a condition, a currency, elapsed time
                return None
        elif quoted is not None or escaped is not None:
            tokens.append((False, quoted if quoted is not None else escaped))
        elif sign is None:
            continue  # `_x`: a gap as wide as x
        elif sign in _PLACEHOLDERS or sign == ".":
            tokens.append((True, sign))
        elif sign == "%":
            is_percent = True
            tokens.append((False, sign))
        elif sign in _BARE_LITERALS:
            tokens.append((False, sign))
        else:
            return None
    digit_signs = "".join(sign for is_digit, sign in tokens if is_digit)
    literals = "".join(text for is_digit, text in tokens if not is_digit)
    if (
        digit_signs.count(".") > 1
        or not digit_signs.strip(".")
        or any(c in literals for c in _CURRENCIES)
    ):
        return None
    if is_percent:
        return _Section(tuple(tokens), True) if literals.count("%") == 1 else None
    if "." in digit_signs or (digit_signs.count("0") < 2 and not literals.strip()):
        return None
    return _Section(tuple(tokens), False)
