"""Texts to terms as Lucene's English analyser makes them: a table worked out by its rules."""

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from building.analysis.lucene_en import LONGEST, STOP_WORDS, terms
from building.analysis.porter import stem
from tests.toolbox.text_strategies import any_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Words of Unicode's annex 29: apostrophes, points and colons join letters, points and commas digits.
        ("O'Neil e.g. a:b", ["o'neil", "e.g", "a:b"]),
        ("3,000.50 at 3:15", ["3,000.50", "3", "15"]),
        ("wi-fi and/or", ["wi", "fi"]),
        ("snake_case _ __x", ["snake_cas", "__x"]),
        ("B2B 4x4", ["b2b", "4x4"]),
        ("end. Next", ["end", "next"]),
        ("", []),
        ("... -- !?", []),
        # Possessives go before anything is made small, and so do those with another apostrophe.
        ("the dog's dogs' DOG'S dog’s", ["dog", "dog", "dog", "dog"]),
        ("U.S.'s", ["u.", "s"]),
        # Stop words, also in capitals; what only looks like one stays.
        ("The cat is NOT in it", ["cat"]),
        ("us them", ["us", "them"]),
        # Porter: -bli and -logi are those of his page, words of two letters stay.
        ("possibly possibilities", ["possibl", "possibl"]),
        ("technologies technology geology", ["technolog", "technolog", "geologi"]),
        ("running ran runner runs", ["run", "ran", "runner", "run"]),
        ("ponies caresses cats ties", ["poni", "caress", "cat", "ti"]),
        ("relational conditional hopefulness", ["relat", "condit", "hope"]),
        ("is as us bus", ["us", "bu"]),
        # Marks belong to the letter before them; other scripts have their own rules.
        ("na\u00efve nai\u0308ve", ["na\u00efv", "nai\u0308v"]),
        ("日本 カタカナ", ["日", "本", "カタカナ"]),
        ("ΣΟΦΟΣ", ["σοφοσ"]),
        ("İstanbul", ["istanbul"]),
    ],
)
def test_table(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_there_are_33_stop_words() -> None:
    assert len(STOP_WORDS) == 33
    assert terms(" ".join(sorted(STOP_WORDS))) == []


def test_very_long_word_is_cut() -> None:
    assert [len(term) for term in terms("x" * (LONGEST + 10))] == [LONGEST, 10]


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        *(("blies", "bli"), ("humbly", "humbl"), ("possibly", "possibl"), ("bly", "bly")),
        *(
            ("apology", "apolog"),
            ("apologies", "apolog"),
            ("logy", "logi"),
            ("theology", "theologi"),
        ),
        *(("by", "by"), ("as", "as"), ("sky", "sky"), ("say", "sai")),
        # Of each step one that it changes, and one whose measure is too small.
        *(("agreed", "agre"), ("feed", "feed"), ("plastered", "plaster"), ("bled", "bled")),
        *(("conflated", "conflat"), ("hopping", "hop"), ("falling", "fall"), ("filing", "file")),
        *(("happy", "happi"), ("vietnamization", "vietnam"), ("rational", "ration")),
        *(("triplicate", "triplic"), ("goodness", "good"), ("adoption", "adopt"), ("lion", "lion")),
        *(("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controll", "control")),
    ],
)
def test_stems(term: str, expected: str) -> None:
    assert stem(term) == expected


@given(st.text("abZ019_.,;:'\" -\n", max_size=30))
def test_ascii_is_cut_by_the_same_rules_as_other_texts(text: str) -> None:
    # A letter of another alphabet, set apart, brings the general rules.
    assert terms(f"{text} \u00e9") == [*terms(text), "\u00e9"]


@given(any_text)
def test_tokens_do_not_cross_a_space(text: str) -> None:
    assert terms(text) == [term for piece in text.split(" ") for term in terms(piece)]


_ENDINGS = (
    *(
        "s",
        "es",
        "ies",
        "sses",
        "eed",
        "ed",
        "ing",
        "y",
        "ational",
        "tional",
        "enci",
        "anci",
        "izer",
    ),
    *("alli", "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness", "fulness"),
    *("ousness", "aliti", "iviti", "biliti", "icate", "ative", "alize", "iciti", "ical", "ful"),
    *(
        "ness",
        "al",
        "ance",
        "ence",
        "er",
        "ic",
        "able",
        "ible",
        "ant",
        "ement",
        "ment",
        "ent",
        "ion",
    ),
    *("sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll", ""),
)


@given(st.text("aeioubcdlmnstxyz", max_size=7), st.lists(st.sampled_from(_ENDINGS), max_size=3))
def test_stems_are_those_of_snowballs_porter_but_for_what_departs(
    start: str, ends: list[str]
) -> None:
    term = start + "".join(ends)
    departs = any(part in term for part in ("bli", "bly", "logi", "logy", "yy"))
    if len(term) > 2 and not departs:
        assert stem(term) == snowballstemmer.stemmer("porter").stemWord(term)


@given(any_text)
def test_any_text_has_terms_that_fit_a_line(text: str) -> None:
    for term in terms(text):
        assert term
        assert "\n" not in term
