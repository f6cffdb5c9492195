"""annotation.text.anchors: a span keeps its words or is told, and never takes others' place."""

import random

import pytest

from annotation.text.anchors import anchored

TEXT = (
    "The ferry Halden lost steering off the breakwater on 9 March. None of the 112 people aboard was hurt. "
    "Investigators found a coupling that was due for replacement. None of the crew was hurt either."
)


def of(words: str, text: str = TEXT, nth: int = 0) -> tuple[int, int]:
    start = -1
    for _ in range(nth + 1):
        start = text.index(words, start + 1)
    return start, start + len(words)


def words_at(new: str, place: tuple[int, int] | None) -> str | None:
    return None if place is None else new[slice(*place)]


@pytest.mark.parametrize(
    ("words", "nth", "new", "then"),
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
def test_by_hand(words, nth, new, then):
    place = anchored(TEXT, new, *of(words, nth=nth))
    assert place == (None if then is None else of(then[0], new, then[1]))


def test_signs_beyond_the_first_plane_count_one():
    old = "Flood 🌊 hit Mellby; 🚒 came, and the school 🏫 was closed for a week."
    new = old.replace("Flood 🌊", "A late flood 🌊🌊")
    assert words_at(new, anchored(old, new, *of("🚒 came", old))) == "🚒 came"


Sign = tuple[str, int]  # a sign, and which it was in the old text; -1 for one that came


def edited(signs: list[Sign], chance: random.Random, words: list[str]) -> list[Sign]:
    """One edit: words come, a stretch goes, a stretch is moved, or words are said otherwise.

    Words that come are none of the text's: else who is to say that they are not the old ones?
    """
    at = chance.randrange(len(signs) + 1)
    length = chance.randrange(1, 60)
    new = (f"{word.upper()}{chance.randrange(9)}" for word in chance.choices(words, k=3))
    came = [(sign, -1) for sign in " ".join(new) + " "]
    cut, rest = signs[at : at + length], signs[:at] + signs[at + length :]
    kind = chance.choice(("insert", "delete", "move", "paraphrase"))
    if kind == "insert":
        return signs[:at] + came + signs[at:]
    if kind == "delete":
        return rest
    if kind == "move":
        there = chance.randrange(len(rest) + 1)
        return rest[:there] + cut + rest[there:]
    return signs[:at] + came + signs[at + length :]


def test_200_edits_move_every_span_right_or_tell_of_it():
    """Of a text of few words, which repeat: each sign knows where it was."""
    chance = random.Random(11)
    words = [
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
    n_kept = n_told = 0
    for _ in range(200):
        old = " ".join(chance.choices(words, k=chance.randrange(20, 120)))
        signs = list(zip(old, range(len(old)), strict=True))
        for _ in range(chance.randrange(1, 4)):
            signs = edited(signs, chance, words)
        new = "".join(sign for sign, _ in signs)
        before = [was for _, was in signs]
        for _ in range(15):
            start = chance.randrange(len(old) - 2)
            end = min(len(old), start + chance.randrange(2, 50))
            place = anchored(old, new, start, end)
            if place is None:
                n_told += 1
            else:
                n_kept += 1
                assert new[slice(*place)] == old[start:end]
                # The very signs, but for some at an edge that an edit wrote again as they were.
                same = zip(before[slice(*place)], range(start, end), strict=True)
                assert sum(was == sign for was, sign in same) >= (end - start) / 2
    assert n_kept > 1000
    assert n_told > 300
