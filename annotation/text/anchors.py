"""Spans of a text whose words have changed: where the same words stand now. No Django here."""

CONTEXT = 16  # code points on one side of a span that tell it from the same words elsewhere
FARTHEST = 64  # no more of them are compared
LONG_ENOUGH = 24  # a quote of so many code points, which stands once, needs no context: its sentence was moved


def anchored(old: str, new: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the words old[start:end] stand in the new text, as [start, end); None where that is not sure.

    A place is taken if the words are there between the same two signs, with CONTEXT code points unchanged
    on one side (at an end of the text, on both together), and if words and unchanged context together stand
    once in each text; or if the words are LONG_ENOUGH and stand once in each. If that holds of several,
    none is.
    """
    quote = old[start:end]
    places = [place for place in _places(new, quote) if _is_the_same(old, new, start, end, place)]
    if len(places) != 1:
        return None
    return places[0], places[0] + len(quote)


def _is_the_same(old: str, new: str, start: int, end: int, place: int) -> bool:
    before = _shared_end(old[:start], new[:place])
    after = _shared_start(old[end:], new[place + end - start :])
    evidence = old[start - before : end + after]
    if _stands_twice(old, evidence) or _stands_twice(new, evidence):
        return False
    left, right = start, len(old) - end
    touches = before >= min(1, left) and after >= min(1, right)
    is_at_an_end = before == left or after == right
    enough = max(before, after) >= CONTEXT or (is_at_an_end and before + after >= CONTEXT)
    return (touches and (enough or (before, after) == (left, right))) or (
        end - start >= LONG_ENOUGH
        and not _stands_twice(old, old[start:end])
        and not _stands_twice(new, old[start:end])
    )


def _places(text: str, words: str) -> list[int]:
    places, place = [], text.find(words)
    while place >= 0 and words:
        places.append(place)
        place = text.find(words, place + 1)
    return places


def _stands_twice(text: str, words: str) -> bool:
    first = text.find(words)
    return text.find(words, first + 1) >= 0


def _shared_start(one: str, other: str) -> int:
    n = 0
    for a, b in zip(one[:FARTHEST], other[:FARTHEST], strict=False):
        if a != b:
            break
        n += 1
    return n


def _shared_end(one: str, other: str) -> int:
    return _shared_start(one[::-1][:FARTHEST], other[::-1][:FARTHEST])
