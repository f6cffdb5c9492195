"""Anchoring of a quote in an edited text. No Django here."""

CONTEXT = 16  # code points on one side of a span that tell it from the same words elsewhere
FARTHEST = 64  # no more of them are compared
LONG_ENOUGH = 24  # a quote of so many code points, which stands once, needs no context: its sentence was moved


def anchor_quote(old: str, new: str, start: int, end: int) -> tuple[int, int] | None:
    """Return [start, end) of old[start:end] in the new text; None where that is uncertain.

    A match is accepted if the quote stands between the same two characters, with CONTEXT code
    points unchanged on one side (at an end of the text, on both together), and if quote and
    unchanged context together occur once in each text; or if the quote is LONG_ENOUGH and occurs
    once in each. If several are accepted, none is returned.
    """
    quote = old[start:end]
    matches = [
        match for match in _occurrences(new, quote) if _is_same_quote(old, new, start, end, match)
    ]
    if len(matches) != 1:
        return None
    return matches[0], matches[0] + len(quote)


def _is_same_quote(old: str, new: str, start: int, end: int, match: int) -> bool:
    n_before = _common_suffix(old[:start], new[:match])
    n_after = _common_prefix(old[end:], new[match + end - start :])
    evidence = old[start - n_before : end + n_after]
    if _is_repeated(old, evidence) or _is_repeated(new, evidence):
        return False
    max_before, max_after = start, len(old) - end
    same_neighbours = n_before >= min(1, max_before) and n_after >= min(1, max_after)
    is_at_an_end = n_before == max_before or n_after == max_after
    has_context = max(n_before, n_after) >= CONTEXT or (
        is_at_an_end and n_before + n_after >= CONTEXT
    )
    return (
        same_neighbours and (has_context or (n_before, n_after) == (max_before, max_after))
    ) or (
        end - start >= LONG_ENOUGH
        and not _is_repeated(old, old[start:end])
        and not _is_repeated(new, old[start:end])
    )


def _occurrences(text: str, quote: str) -> list[int]:
    starts, start = [], text.find(quote)
    while start >= 0 and quote:
        starts.append(start)
        start = text.find(quote, start + 1)
    return starts


def _is_repeated(text: str, quote: str) -> bool:
    first = text.find(quote)
    return text.find(quote, first + 1) >= 0


def _common_prefix(old: str, new: str) -> int:
    n = 0
    for a, b in zip(old[:FARTHEST], new[:FARTHEST], strict=False):
        if a != b:
            break
        n += 1
    return n


def _common_suffix(old: str, new: str) -> int:
    return _common_prefix(old[::-1][:FARTHEST], new[::-1][:FARTHEST])
