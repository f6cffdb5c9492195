"""English analyzer equal to Lucene's: tokens, possessives, stop words, stems.

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

_EX = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"  # marks belong to the character before them
# ASCII letters in one go, which is most of English.
_LETTER = rf"(?:[A-Za-z]++|[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]){_EX}"
_DIGIT = rf"(?:[0-9]++|\p{{WB=Numeric}}){_EX}"
_KANA = rf"\p{{WB=Katakana}}{_EX}"
_JOIN = rf"(?:\p{{WB=ExtendNumLet}}{_EX})"  # the underscore, which is no token alone
_MID_LETTER = rf"[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}:]{_EX}"
_MID_NUMBER = rf"[\p{{WB=MidNum}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{_EX}"
_PIECE = (
    rf"(?:{_KANA}(?:{_JOIN}*+{_KANA})*+"
    rf"|{_LETTER}(?:(?:{_JOIN}++|{_MID_LETTER})?{_LETTER})*+"
    rf"|{_DIGIT}(?:(?:{_JOIN}++|{_MID_NUMBER})?{_DIGIT})*+)"
)
_ONE_SIGN = r"[\p{Script=Han}\p{Script=Hiragana}]"
_TOKEN = regex.compile(
    rf"{_JOIN}*+{_PIECE}(?:{_JOIN}*+{_PIECE})*+{_JOIN}*+|{_ONE_SIGN}{_EX}"
    rf"|(?:\p{{Line_Break=Complex_Context}}{_EX})++"
)
# The same for texts of ASCII alone, five times as fast.
_ASCII_PIECE = (
    r"(?:[A-Za-z]++(?>(?:(?:_++|[.':])[A-Za-z]++)*)|[0-9]++(?>(?:(?:_++|[.,;'])[0-9]++)*))"
)
_ASCII_TOKEN = re.compile(rf"_*+{_ASCII_PIECE}(?>(?:_*+{_ASCII_PIECE})*)_*+")
_APOSTROPHES = ("'", "’", "＇")


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, one per token that is no stop word."""
    return [term for token in split_tokens(text) if (term := term_of(token))]


def split_tokens(text: str) -> list[str]:
    """Split a text into tokens as they stand there; tokens over LONGEST are cut in pieces."""
    tokens: list[str] = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)
    if len(text) <= LONGEST or all(len(token) <= LONGEST for token in tokens):
        return tokens
    return [
        token[start : start + LONGEST]
        for token in tokens
        for start in range(0, len(token), LONGEST)
    ]


def term_of(token: str) -> str:
    """Return the term of a token; "" for a stop word or a bare possessive."""
    is_possessive = token[-2:-1] in _APOSTROPHES and token[-1] in ("s", "S")
    lowered = _lower(token[:-2] if is_possessive else token)
    return "" if lowered in STOP_WORDS else stem(lowered)


def _lower(token: str) -> str:
    """Lower-case a token character by character, as Java does.

    str.lower of a whole word may differ.
    """
    return token.lower() if token.isascii() else "".join(sign.lower()[0] for sign in token)
