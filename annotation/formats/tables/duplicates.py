"""Rows of tables that contradict each other: refused, or the first or last counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.formats.tables.rankings import Origin
from annotation.formats.tables.spool import Spool

TextKey = tuple[str, str, str]  # kind, system, name
REFUSE, FIRST, LAST = "refuse", "first", "last"
CHOOSE = "choose which of them counts: the setting “duplicates”, first or last"


OF_OTHER_BODY = "grades, values and notes of a text whose words in another row count: left out"


class Duplicates:
    """Setting of a study for contradictions, and the rows that count for nothing by it."""

    def __init__(self, setting: str, counts: Counter[str]) -> None:
        self.setting = setting
        self._counts = counts
        self._replaced: set[tuple[str, int, int]] = set()
        """Rows of spools: kind of rows, index of the table, position."""
        self._bodies: dict[TextKey, dict[str, list[Origin]]] = {}
        """Rows by the body that they have for a text, the last body at the end; if the last counts."""
        self._uncounted: set[tuple[TextKey, Origin]] = set()
        """Texts with rows whose words do not count, as far as it is known."""

    @property
    def refuses(self) -> bool:
        return self.setting == REFUSE

    @property
    def last_counts(self) -> bool:
        return self.setting == LAST

    def replace(self, kind: str, table: int, position: int) -> None:
        """Leave out a row of a spool, in whose place another counts."""
        self._replaced.add((kind, table, position))

    def add_body(self, text: TextKey, body_hash: str, first_hash: str, origin: Origin) -> None:
        """Record the body of a text in a row, by its hash and that of the first row."""
        if self.setting == FIRST and body_hash != first_hash:
            self._uncounted.add((text, origin))
        elif self.last_counts:
            by_hash = self._bodies.setdefault(text, {})
            origins = by_hash.pop(body_hash, [])
            origins.append(origin)
            by_hash[body_hash] = origins

    def leaves_out(self, text: TextKey, origin: Origin) -> bool:
        """Return whether what this row says of the text is left out, and count it."""
        is_uncounted = self.is_uncounted(text, origin)
        if is_uncounted:
            self._counts[OF_OTHER_BODY] += 1
        return is_uncounted

    def is_uncounted(self, text: TextKey, origin: Origin) -> bool:
        """Return whether it is known that the words of a text in this row do not count."""
        return (text, origin) in self._uncounted

    def finish(self) -> None:
        """Find the rows whose words do not count, as the last ones are known."""
        for text, by_hash in self._bodies.items():
            for origins in list(by_hash.values())[:-1]:
                self._uncounted.update((text, origin) for origin in origins)
        self._bodies.clear()

    def effective_rows(
        self, kind: str, table: int, spool: Spool
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the rows of a spool that count."""
        is_of_text = kind in ("ratings", "values", "notes")
        for position, (row, values) in enumerate(spool):
            if (kind, table, position) in self._replaced:
                continue
            if not (is_of_text and self.leaves_out(_text_of(values), (table, row))):
                yield row, values


def _text_of(values: Mapping[str, Any]) -> TextKey:
    """Return the text of a rating or a note, or the report of a value."""
    kind = values.get("text_kind", "report")
    return kind, values["system"], values["text"] if "text" in values else values["name"]
