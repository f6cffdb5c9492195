"""Fields of a form whose number depends on the uploaded files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DUPLICATES_LABEL = "Rows that contradict each other in words, grades or values"
DUPLICATES_CHOICES = (
    ("refuse", "refuse the import"),
    ("first", "the first one counts"),
    ("last", "the last one counts"),
)


@dataclass
class FormField:
    """Field of the page; with choices it is a select."""

    name: str
    label: str
    value: str
    choices: Sequence[tuple[str, str]] = ()
    note: str = ""
    error: str = ""
    is_number: bool = False
    is_long: bool = False
    """True for a text of several lines."""
