"""Names of systems and raters, as they are stored, and pseudonyms of people."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

from annotation.errors import UserError
from annotation.formats.summary import quoted_value
from annotation.formats.tables.values import digest

_BLANKS = re.compile(r"\s+")
_NOT_SYSTEM = re.compile(r"[^\w.+-]+", re.ASCII)
_NOT_RATER = re.compile(r"[^\w-]+", re.ASCII)
MAX_RATER = 120  # characters
# E-mail addresses, and Prolific's ids of participants.
_PERSONAL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|[0-9a-f]{24}")


class NameClashError(UserError):
    """Name without a letter or digit, or that two names of a file would share."""


def topic_id(name: str) -> str:
    """Return the id of a topic with `-` for blanks and colons, as in TOPIC:PASSAGE."""
    return text_id(name).replace(":", "-")


def text_id(name: str) -> str:
    """Return the id of a text with `-` for blanks, which no run could hold."""
    return _BLANKS.sub("-", name)


def passage_id(topic: str, body: str) -> str:
    """Return the id of a passage without one, made from its words."""
    return f"{topic}:p-{digest(body)}" if topic else f"p-{digest(body)}"


def system_name(name: str) -> str:
    """Return a name with `-` for all but ASCII letters, digits and . _ + -."""
    return _NOT_SYSTEM.sub("-", name).strip("-")


def rater_name(name: str) -> str:
    """Return a rater's name of letters, digits, - and _.

    Other signs become `-`, those of other scripts their code points.
    """
    ascii_name = "".join(sign if sign.isascii() else f"u{ord(sign):x}" for sign in name)
    return _NOT_RATER.sub("-", ascii_name)[:MAX_RATER]


class StoredNames:
    """Names as they are stored, each of one name of the files."""

    def __init__(self, store: Callable[[str], str]) -> None:
        self._store = store
        self.stored: dict[str, str] = {}
        """Name of the files by stored name."""

    def add(self, name: str) -> str:
        """Return the stored name. Raises NameClashError if it is empty, or another name's too."""
        stored = self._store(name)
        if not stored:
            raise NameClashError(f"{quoted_value(name)} leaves no name: use letters or digits")
        first = self.stored.setdefault(stored, name)
        if first != name:
            raise NameClashError(
                f"{quoted_value(name)} and {quoted_value(first)} would both be called {stored}"
            )
        return stored


def is_personal(name: str) -> bool:
    """Return whether a name is an e-mail address or a platform's id of a person."""
    return bool(_PERSONAL.fullmatch(name))


def pseudonym(name: str, key: bytes) -> str:
    """Return `person-` and 12 hex digits of HMAC-SHA256, the same in each import of a site."""
    digits = hmac.new(key, name.strip().casefold().encode(), hashlib.sha256).hexdigest()[:12]
    return f"person-{digits}"
