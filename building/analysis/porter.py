"""Porter stemmer in its author's published version, as Lucene uses it.

Other than in his paper, -bli becomes -ble, -logi becomes -log, and words of one or two letters stay. It is
written here because Snowball's in Python takes six times as long, and large corpora have a million words.
Source: M. Porter, An algorithm for suffix stripping, Program 14(3), 1980; tartarus.org/martin/PorterStemmer.
"""

from __future__ import annotations

# Class of each letter: vowel (v), consonant (c), or y, which depends on the letter before it.
_SHAPES = bytes(ord({"y": "y"}.get(chr(n), "v" if chr(n) in "aeiou" else "c")) for n in range(256))

Endings = tuple[tuple[str, str], ...]
# Endings by their last letter but one; only the first that matches counts.
_STEP_2: dict[str, Endings] = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "l": (("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
    "g": (("logi", "log"),),
}
_STEP_3: dict[str, Endings] = {
    "t": (("icate", "ic"), ("iciti", "ic")),
    "v": (("ative", ""),),
    "z": (("alize", "al"),),
    "a": (("ical", "ic"),),
    "u": (("ful", ""),),
    "s": (("ness", ""),),
}
_STEP_4: dict[str, Endings] = {
    "a": (("al", ""),),
    "c": (("ance", ""), ("ence", "")),
    "e": (("er", ""),),
    "i": (("ic", ""),),
    "l": (("able", ""), ("ible", "")),
    "n": (("ant", ""), ("ement", ""), ("ment", ""), ("ent", "")),
    "o": (("sion", "s"), ("tion", "t"), ("ou", "")),
    "s": (("ism", ""),),
    "t": (("ate", ""), ("iti", "")),
    "u": (("ous", ""),),
    "v": (("ive", ""),),
    "z": (("ize", ""),),
}
# Suffixes of all endings of all steps; a token without one of them is unchanged.
_ENDINGS = (
    *("s", "e", "y", "ed", "ing", "al", "ful", "ll", "ic", "er", "ator", "ant", "ent", "ion"),
    *("ou", "ism", "ci", "li", "ti", "logi"),
)


def stem(token: str) -> str:
    """Return the stem of a lower-case token; characters other than a to z are consonants."""
    if len(token) < 3 or not token.endswith(_ENDINGS):
        return token
    token = _strip_verb_ending(_strip_plural(token))
    if token.endswith("y") and _has_vowel(token[:-1]):
        token = token[:-1] + "i"
    token = _replace_ending(token, _STEP_2, 0)
    token = _replace_ending(token, _STEP_3, 0)
    return _strip_final_e_or_l(_replace_ending(token, _STEP_4, 1))


def _strip_plural(token: str) -> str:
    if not token.endswith("s") or token.endswith("ss"):
        return token
    return token[:-2] if token.endswith(("sses", "ies")) else token[:-1]


def _strip_verb_ending(token: str) -> str:
    if token.endswith("eed"):
        return token[:-1] if _measure(token[:-3]) > 0 else token
    if not token.endswith(("ed", "ing")):
        return token
    base = token[:-2] if token.endswith("ed") else token[:-3]
    if not _has_vowel(base):
        return token
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _is_doubled(base):
        return base if base.endswith(("l", "s", "z")) else base[:-1]
    return base + "e" if _measure(base) == 1 and _is_short(base) else base


def _strip_final_e_or_l(token: str) -> str:
    if token.endswith("e"):
        base = token[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _is_short(base)):
            token = base
    return token[:-1] if token.endswith("ll") and _measure(token) > 1 else token


def _replace_ending(token: str, endings: dict[str, Endings], min_measure: int) -> str:
    """Replace the first matching ending if the measure before it exceeds `min_measure`."""
    for ending, replacement in endings.get(token[-2:-1], ()):
        if token.endswith(ending):
            base = token[: len(token) - len(ending)] + replacement
            # The s or t that -sion and -tion keep counts as part of the stem.
            stem_part = base if min_measure else token[: len(token) - len(ending)]
            return base if _measure(stem_part) > min_measure else token
    return token


def _shape(token: str) -> bytes:
    """Map a token to v (vowel) and c (consonant); y is a vowel after a consonant only."""
    shape = token.encode("ascii", "replace").translate(_SHAPES)
    while (index := shape.find(b"y")) >= 0:
        is_vowel = index > 0 and shape[index - 1 : index] == b"c"
        shape = shape[:index] + (b"v" if is_vowel else b"c") + shape[index + 1 :]
    return shape


def _measure(token: str) -> int:
    """Return Porter's measure m, the number of vowel-consonant sequences."""
    return _shape(token).count(b"vc")


def _has_vowel(token: str) -> bool:
    return b"v" in _shape(token)


def _is_doubled(token: str) -> bool:
    return len(token) > 1 and token[-1] == token[-2] and _shape(token).endswith(b"c")


def _is_short(token: str) -> bool:
    """Return whether a token ends consonant-vowel-consonant, the last not w, x or y."""
    return _shape(token).endswith(b"cvc") and token[-1] not in "wxy"
