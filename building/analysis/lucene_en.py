"""English text to terms, as Lucene's EnglishAnalyzer makes them: words, possessives, stop words, stems.

Words are those of Unicode's annex 29, as Lucene's StandardTokenizer reads it; what a pictograph is to Lucene
is no word here. Source: Lucene 10, analysis/common (StandardTokenizer, EnglishPossessiveFilter,
EnglishAnalyzer, PorterStemFilter).
"""

from __future__ import annotations

import re

import regex

from building.analysis.porter import stem

_STOP = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they
this to was will with
"""
STOP_WORDS = frozenset(_STOP.split())
LONGEST = 255  # letters of a token: Lucene cuts there and goes on

_EX = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"  # marks belong to the sign before them
# Those of ASCII in one go, which is most of English.
_LETTER = rf"(?:[A-Za-z]++|[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]){_EX}"
_DIGIT = rf"(?:[0-9]++|\p{{WB=Numeric}}){_EX}"
_KANA = rf"\p{{WB=Katakana}}{_EX}"
_JOIN = rf"(?:\p{{WB=ExtendNumLet}}{_EX})"  # the underscore, which makes no word alone
_IN_WORDS = rf"[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}:]{_EX}"
_IN_NUMBERS = rf"[\p{{WB=MidNum}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{_EX}"
_PIECE = (
    rf"(?:{_KANA}(?:{_JOIN}*+{_KANA})*+"
    rf"|{_LETTER}(?:(?:{_JOIN}++|{_IN_WORDS})?{_LETTER})*+"
    rf"|{_DIGIT}(?:(?:{_JOIN}++|{_IN_NUMBERS})?{_DIGIT})*+)"
)
_ONE_SIGN = r"[\p{Script=Han}\p{Script=Hiragana}]"
_WORD = regex.compile(
    rf"{_JOIN}*+{_PIECE}(?:{_JOIN}*+{_PIECE})*+{_JOIN}*+|{_ONE_SIGN}{_EX}"
    rf"|(?:\p{{Line_Break=Complex_Context}}{_EX})++"
)
# The same for texts of ASCII alone, five times as fast.
_ASCII_PIECE = r"(?:[A-Za-z]++(?:(?:_++|[.':])[A-Za-z]++)*+|[0-9]++(?:(?:_++|[.,;'])[0-9]++)*+)"
_ASCII_WORD = re.compile(rf"_*+{_ASCII_PIECE}(?:_*+{_ASCII_PIECE})*+_*+")
_APOSTROPHES = ("'", "’", "＇")


def terms(text: str) -> list[str]:
    """The terms of a text in order, one for each word that is no stop word."""
    return [term for word in words(text) if (term := term_of(word))]


def words(text: str) -> list[str]:
    """The words of a text as they stand there, the longest ones in pieces."""
    found: list[str] = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    if len(text) <= LONGEST or all(len(word) <= LONGEST for word in found):
        return found
    return [
        word[start : start + LONGEST] for word in found for start in range(0, len(word), LONGEST)
    ]


def term_of(word: str) -> str:
    """The term of a word; "" for a stop word, and for a possessive alone."""
    is_possessive = word[-2:-1] in _APOSTROPHES and word[-1] in ("s", "S")
    small = _small(word[:-2] if is_possessive else word)
    return "" if small in STOP_WORDS else stem(small)


def _small(word: str) -> str:
    """In small letters, sign by sign as Java does: what str.lower makes of a whole word may differ."""
    return word.lower() if word.isascii() else "".join(sign.lower()[0] for sign in word)
