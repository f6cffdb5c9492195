"""Items of a reply: tagged, or else a JSON list or a numbered list."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from building.writing.sentences import has_token

_FENCE = "```"
_NUMBERED = re.compile(r"\s*(?:(?:question|passage|q|p)\s*)?[(\[]?(\d{1,3})[.):\]]+\s+(\S.*)", re.I)
_STRAY = re.compile(
    r"\s*(?:(question|passage|q|p)\s*)?[(\[]?(\d{1,3})[.):\]]+(?:\s+|\Z)", re.IGNORECASE
)
_BULLET = re.compile(r"\A[-*•–]\s+")
_BOLD = re.compile(r"\*\*(?:(?!\*\*).)+\*\*")


@dataclass(frozen=True)
class Items:
    """Complete items in order; those at the indices `loose` lack one of their two tags.

    `was_cut`: one more had begun when the reply reached its length.
    """

    bodies: tuple[str, ...] = ()
    was_cut: bool = False
    loose: frozenset[int] = frozenset()


def tagged_items(reply: str, tag: str, is_cut: bool) -> Items:
    """Extract the items between <tag> and </tag>, in any case.

    A tag that is not closed ends where the next one opens, or with the reply; in a reply that was cut
    (`is_cut`) the last such item is not whole, and left out. Words before the first closing tag are an
    item where the reply opens none before it: then the prompt did. Items without a word are left out.
    """
    edges = list(re.finditer(rf"<\s*+(/?)\s*+{tag}\s*+>", reply, re.IGNORECASE))
    candidates: list[tuple[str, bool]] = []  # words, and whether they lack a tag
    start = 0 if edges and edges[0][1] else None
    is_opened = False
    for edge in edges:
        is_closing = bool(edge[1])
        if start is not None:
            candidates.append((reply[start : edge.start()], not (is_opened and is_closing)))
        start, is_opened = (None, False) if is_closing else (edge.end(), True)
    if start is not None and not is_cut:
        candidates.append((reply[start:].strip().removesuffix(_FENCE), True))
    whole = [(body.strip(), is_loose) for body, is_loose in candidates if has_token(body)]
    return Items(
        tuple(body for body, _ in whole),
        was_cut=is_cut and start is not None,
        loose=frozenset(index for index, (_, is_loose) in enumerate(whole) if is_loose),
    )


def listed_items(reply: str, is_cut: bool) -> Items:
    """Extract the items of an untagged reply that is only a list; else none.

    A JSON list of strings, also alone in an object or in a code fence; or lines numbered from any number
    on, each one more than the one before, after at most one line that ends in a colon. The last line of
    a reply that was cut is left out.
    """
    inside = reply.strip()
    if inside.startswith(_FENCE) and inside.endswith(_FENCE):
        inside = inside.partition("\n")[2].removesuffix(_FENCE)
    return _json_list(inside) or _numbered_lines(inside, is_cut) or Items()


def _json_list(text: str) -> Items | None:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(values, dict) and len(values) == 1:
        [values] = values.values()
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return None
    return Items(tuple(value.strip() for value in values if has_token(value)))


def _numbered_lines(text: str, is_cut: bool) -> Items | None:
    lines = [line for line in text.split("\n") if line.strip()]
    if is_cut:
        lines = lines[:-1]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        del lines[0]
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    numbers = [int(match[1]) for match in numbered if match]
    if not numbers or len(numbers) < len(lines):
        return None
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return Items(tuple(match[2].strip() for match in numbered if match), was_cut=is_cut)


def strip_numbers(bodies: Sequence[str], before: int = 0) -> list[str]:
    """Strip stray numbers and bullets from items ("2. ", "Question 2:", "- ").

    A number goes where it is the item's own, counted from 1 or from the `before` that are there already,
    or where most items begin with one. So a date at the beginning stays. An item that was nothing but
    its number becomes "".
    """
    bare = [_BULLET.sub("", _unbold(body), count=1) for body in bodies]
    matches = [_STRAY.match(body) for body in bare]
    most_have_one = 2 * sum(match is not None for match in matches) > len(bare) > 1
    cleaned = []
    for number, (body, match) in enumerate(zip(bare, matches, strict=True), 1):
        if match and (match[1] or most_have_one or int(match[2]) in (number, number + before)):
            body = body[match.end() :]
        cleaned.append(_unbold(body))
    return cleaned


def _unbold(body: str) -> str:
    body = body.strip()
    return body[2:-2].strip() if _BOLD.fullmatch(body) else body
