"""Undo of a text edit: the wording from before, with its grades, spans and citations."""

from __future__ import annotations

from annotation.models import Text, Version
from annotation.text.carrying import give_words, put_back


def give_back(version: Version) -> None:
    """Let the thing of its last version have these words again; grades, spans and citations as they were.

    In a transaction that has locked the thing, of a version whose words `had` is known of, and of whose new
    words nobody has need.
    """
    thing = version.thing
    given_up = thing.body if isinstance(thing, Text) else None
    give_words(thing, version.body, version.had)
    put_back(version, given_up)
    version.delete()
