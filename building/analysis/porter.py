"""Porter's stemmer as its author published it on his page, which is Lucene's.

Other than in his paper, -bli becomes -ble, -logi becomes -log, and words of one or two letters stay. It is
written here because Snowball's in Python takes six times as long, and large corpora have a million words.
Source: M. Porter, An algorithm for suffix stripping, Program 14(3), 1980; tartarus.org/martin/PorterStemmer.
"""

from __future__ import annotations

# Of each letter whether it is a vowel (v), a consonant (c) or hangs on the one before it (y).
_SHAPES = bytes(ord({"y": "y"}.get(chr(n), "v" if chr(n) in "aeiou" else "c")) for n in range(256))

Endings = tuple[tuple[str, str], ...]
# By their last letter but one: of those that a word ends with the first counts, and no other.
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
# What all endings end with that any step knows: a word without one of them stays as it is.
_CHANGED = (
    *("s", "e", "y", "ed", "ing", "al", "ful", "ll", "ic", "er", "ator", "ant", "ent", "ion"),
    *("ou", "ism", "ci", "li", "ti", "logi"),
)


def stem(word: str) -> str:
    """The stem of a word in small letters; signs that are no letters of a to z are consonants."""
    if len(word) < 3 or not word.endswith(_CHANGED):
        return word
    word = _without_verb_ending(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _changed(word, _STEP_2, 0)
    word = _changed(word, _STEP_3, 0)
    return _without_last(_changed(word, _STEP_4, 1))


def _without_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith("ss"):
        return word
    return word[:-2] if word.endswith(("sses", "ies")) else word[:-1]


def _without_verb_ending(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    if not word.endswith(("ed", "ing")):
        return word
    left = word[:-2] if word.endswith("ed") else word[:-3]
    if not _has_vowel(left):
        return word
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if _is_doubled(left):
        return left if left.endswith(("l", "s", "z")) else left[:-1]
    return left + "e" if _measure(left) == 1 and _is_short(left) else left


def _without_last(word: str) -> str:
    if word.endswith("e"):
        left = word[:-1]
        measure = _measure(left)
        if measure > 1 or (measure == 1 and not _is_short(left)):
            word = left
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _changed(word: str, endings: dict[str, Endings], above: int) -> str:
    """With another ending, where what is before it has a measure above this."""
    for ending, becomes in endings.get(word[-2:-1], ()):
        if word.endswith(ending):
            left = word[: len(word) - len(ending)] + becomes
            # The s or t that stays of -sion and -tion belongs to what is before it.
            of = left if above else word[: len(word) - len(ending)]
            return left if _measure(of) > above else word
    return word


def _shape(word: str) -> bytes:
    """v for each vowel and c for each consonant; y is a vowel behind a consonant alone."""
    shape = word.encode("ascii", "replace").translate(_SHAPES)
    while (place := shape.find(b"y")) >= 0:
        is_vowel = place > 0 and shape[place - 1 : place] == b"c"
        shape = shape[:place] + (b"v" if is_vowel else b"c") + shape[place + 1 :]
    return shape


def _measure(word: str) -> int:
    """Porter's m: how often a consonant follows a vowel."""
    return _shape(word).count(b"vc")


def _has_vowel(word: str) -> bool:
    return b"v" in _shape(word)


def _is_doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word).endswith(b"c")


def _is_short(word: str) -> bool:
    """Whether it ends as "hop" does, with a letter other than w, x and y."""
    return _shape(word).endswith(b"cvc") and word[-1] not in "wxy"
