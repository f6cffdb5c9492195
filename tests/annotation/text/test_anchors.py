"""Anchoring: a span keeps its text or is reported lost, and is never moved elsewhere."""

import random

import pytest

from annotation.text.anchors import anchor_quote

TEXT = (
    "The ferry Halden lost steering off the breakwater on 9 March. None of the 112 people aboard was hurt. "
    "Investigators found a coupling that was due for replacement. None of the crew was hurt either."
)


def of(quote: str, text: str = TEXT, nth: int = 0) -> tuple[int, int]:
    start = -1
    for _ in range(nth + 1):
        start = text.index(quote, start + 1)
    return start, start + len(quote)


def quote_at(new: str, span: tuple[int, int] | None) -> str | None:
    return None if span is None else new[slice(*span)]


@pytest.mark.parametrize(
    ("quote", "nth", "new", "expected"),
    [
        # Nothing changed; a word came before; a word went after.
        ("lost steering", 0, TEXT, ("lost steering", 0)),
        (
            "lost steering",
            0,
            TEXT.replace("The ferry", "On Monday the old ferry"),
            ("lost steering", 0),
        ),
        ("lost steering", 0, TEXT.replace(" on 9 March", ""), ("lost steering", 0)),
        # The second of two places, told by its sentence; and the other one is gone.
        ("was hurt", 1, TEXT.replace("Halden", "Hallden"), ("was hurt", 1)),
        (
            "was hurt",
            1,
            TEXT.replace("None of the 112 people aboard was hurt. ", ""),
            ("was hurt", 0),
        ),
        # It is gone itself: the same words elsewhere are not taken for it.
        ("was hurt", 0, TEXT.replace("None of the 112 people aboard was hurt. ", ""), None),
        # A word within it changed; its sentence was moved to the front; both neighbours changed.
        ("a coupling that was due", 0, TEXT.replace("coupling", "bolt"), None),
        (
            "Investigators found a coupling that was due for replacement.",
            0,
            "Investigators found a coupling that was due for replacement. " + TEXT[:61],
            ("Investigators found a coupling that was due for replacement.", 0),
        ),
        ("112", 0, TEXT.replace("the 112 people", "about 112 travellers"), None),
        ("lost steering", 0, "", None),
    ],
)
def test_anchored_examples_move_or_are_lost(quote, nth, new, expected):
    span = anchor_quote(TEXT, new, *of(quote, nth=nth))
    assert span == (None if expected is None else of(expected[0], new, expected[1]))


def test_astral_characters_count_as_one():
    old = "Flood 🌊 hit Mellby; 🚒 came, and the school 🏫 was closed for a week."
    new = old.replace("Flood 🌊", "A late flood 🌊🌊")
    assert quote_at(new, anchor_quote(old, new, *of("🚒 came", old))) == "🚒 came"


Sign = tuple[str, int]  # a sign, and which it was in the old text; -1 for one that came


def edited(signs: list[Sign], chance: random.Random, vocabulary: list[str]) -> list[Sign]:
    """Return the signs after a random insertion, deletion, move or paraphrase.

    Inserted words do not occur in the text: otherwise they could not be told from the old ones.
    """
    at = chance.randrange(len(signs) + 1)
    length = chance.randrange(1, 60)
    new = (f"{token.upper()}{chance.randrange(9)}" for token in chance.choices(vocabulary, k=3))
    inserted = [(sign, -1) for sign in " ".join(new) + " "]
    cut, remaining = signs[at : at + length], signs[:at] + signs[at + length :]
    kind = chance.choice(("insert", "delete", "move", "paraphrase"))
    if kind == "insert":
        return signs[:at] + inserted + signs[at:]
    if kind == "delete":
        return remaining
    if kind == "move":
        target = chance.randrange(len(remaining) + 1)
        return remaining[:target] + cut + remaining[target:]
    return signs[:at] + inserted + signs[at + length :]


def test_spans_after_200_random_edits_are_moved_or_lost():
    """In a text of few, repeated words each character knows its old index."""
    chance = random.Random(11)
    vocabulary = [
        "ferry",
        "the",
        "crew",
        "hurt",
        "was",
        "in",
        "fog",
        "steering",
        "é🌊",
        "שלום",
        "a",
        "not",
    ]
    n_kept = n_lost = 0
    for _ in range(200):
        old = " ".join(chance.choices(vocabulary, k=chance.randrange(20, 120)))
        signs = list(zip(old, range(len(old)), strict=True))
        for _ in range(chance.randrange(1, 4)):
            signs = edited(signs, chance, vocabulary)
        new = "".join(sign for sign, _ in signs)
        before = [was for _, was in signs]
        for _ in range(15):
            start = chance.randrange(len(old) - 2)
            end = min(len(old), start + chance.randrange(2, 50))
            span = anchor_quote(old, new, start, end)
            if span is None:
                n_lost += 1
            else:
                n_kept += 1
                assert new[slice(*span)] == old[start:end]
                # The very signs, but for some at an edge that an edit wrote again as they were.
                same = zip(before[slice(*span)], range(start, end), strict=True)
                assert sum(was == sign for was, sign in same) >= (end - start) / 2
    assert n_kept > 1000
    assert n_lost > 300
