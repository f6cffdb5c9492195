"""Text for LaTeX: escaping, and code points for characters that pdfLaTeX cannot print."""

from __future__ import annotations

import re
import unicodedata
from itertools import chain

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "“": "``",
    "”": "''",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "•": r"\textbullet{}",
    "€": r"\texteuro{}",
    "™": r"\texttrademark{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "∞": r"$\infty$",
}
_GREEK = {
    **dict(zip("αβγδζηθικλμνξπρστυχψω", (
        *("alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "iota", "kappa", "lambda"),
        *("mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "chi", "psi", "omega"),
    ), strict=True)),
    **dict(zip("ΓΔΘΛΞΠΣΥΦΨΩεςφ", (
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi"),
        *("Omega", "varepsilon", "varsigma", "varphi"),
    ), strict=True)),
}  # fmt: skip
# Greek letters that LaTeX sets with the Latin letter of the same form.
_GREEK_AS_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
_ESCAPES |= {letter: rf"$\{name}$" for letter, name in _GREEK.items()} | _GREEK_AS_LATIN
# Latin letters and signs with a command in t1enc.dfu or ts1enc.dfu: inputenc reads them as they are.
_PRINTABLE = frozenset(
    chr(code)
    for code in chain(range(0x20, 0x7F), range(0xA1, 0x17F))
    if code not in (0xAD, 0x126, 0x127, 0x138, 0x13F, 0x140, 0x149, 0x166, 0x167)
) | frozenset("ȘșȚț‘’‚„‹›")  # fmt: skip
# Commands of combining marks: in text, above or below a letter, and above a Greek letter in formulas.
_ABOVE = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
}
_BELOW = {"\u0323": "d", "\u0327": "c", "\u0328": "k", "\u0331": "b"}
_IN_FORMULAS = {"\u0300": "grave", "\u0301": "acute", "\u0304": "bar", "\u0308": "ddot"}
_LIGATURES = frozenset("-,'")  # two of them in a row would be set as one sign
_CODE_POINT = re.compile(r"(?<!\\)\{\[U\+([0-9A-F]{4,6})\]\}")


def escape(text: str) -> str:
    """Return text escaped for LaTeX with T1 fonts, on one line.

    Latin letters stay, Greek ones become formulas. Another character, such as a Chinese one or an
    emoji, becomes its code point, as [U+4E2D], because pdfLaTeX stops at it: see `code_points`.
    """
    pieces: list[str] = []
    previous = ""
    for sign in " ".join(text.split()):
        if sign == previous and sign in _LIGATURES:
            pieces.append("{}")
        pieces.append(_escaped(sign))
        previous = sign
    return "".join(pieces)


def code_points(latex: str) -> list[str]:
    """Return comments on the characters that `escape` wrote as code points, with their names."""
    numbers = dict.fromkeys(int(digits, 16) for digits in _CODE_POINT.findall(latex))
    if not numbers:
        return []
    names = (f"% U+{code:04X} {unicodedata.name(chr(code), 'no name')}" for code in sorted(numbers))
    return [
        "% pdfLaTeX cannot print these characters; they stand as code points in brackets:",
        *names,
    ]


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign in _PRINTABLE:
        return sign
    base, *marks = [*unicodedata.normalize("NFD", sign)]
    printed = _ESCAPES.get(base, base if base.isascii() and base.isalpha() else "")
    for mark in marks:
        printed = printed and _accented(printed, mark)
    # In braces: LaTeX would read a bracket after the end of a row as an option.
    return printed if marks and printed else f"{{[U+{ord(sign):04X}]}}"


def _accented(letter: str, mark: str) -> str:
    """Return LaTeX of a letter with a combining mark; "" for a mark without a command."""
    if letter.startswith("$"):
        command = _IN_FORMULAS.get(mark)
        return f"$\\{command}{{{letter.strip('$')}}}$" if command else ""
    if mark in _BELOW:
        return f"\\{_BELOW[mark]}{{{letter}}}"
    dotless = {"i": r"\i", "j": r"\j"}.get(letter, letter)
    return f"\\{_ABOVE[mark]}{{{dotless}}}" if mark in _ABOVE else ""
