"""Undo of a text edit: the wording from before, with its grades, spans and citations."""

from __future__ import annotations

from annotation.models import Text, Version
from annotation.text.reanchoring import restore_ratings, set_wording


def undo_edit(version: Version) -> None:
    """Restore the wording of the last version, with its grades, spans and citations.

    In a transaction that has locked the text or question. `had` of the version must be known, and
    nothing may depend on the new wording.
    """
    entity = version.entity
    given_up = entity.body if isinstance(entity, Text) else None
    set_wording(entity, version.body, version.had)
    restore_ratings(version, given_up)
    version.delete()
