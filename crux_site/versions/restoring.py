"""Restore of an earlier wording: undo of the edits since, with grades, spans, citations."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from django.db import transaction
from django.db.models import QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotation.models import ProjectEntry, Rating, SubQuestion, User, Version
from annotation.text.versions import TextEditError, lock_for_edit
from crux_site.removal import Blocker
from crux_site.versions.restore_blockers import dependent_rows, duplicate_wordings
from crux_site.versions.text_edits import refuse_while_judging, undo_text_edit

_TOKEN = re.compile(r"\S+\s*|\s+")
# Comparing takes the product of the lengths in time; longer changes are one deletion and one insertion.
_MAX_PRODUCT = 4_000_000


def edits_since(version: Version) -> QuerySet[Version]:
    """Return the edits that restoring this wording undoes, newest first."""
    return version.entity.versions.filter(number__gte=version.number).order_by("-number")


def blockers(version: Version) -> list[Blocker]:
    """Return the rows that depend on a wording since, and block the restore."""
    edits = edits_since(version)
    return dependent_rows(edits, Rating.objects.none()) + duplicate_wordings(
        edits, SubQuestion.objects.none()
    )


@transaction.atomic
def restore(version: Version, *, by: User, seen: str) -> list[Blocker]:
    """Restore the wording of a version. Returns the blockers; none if it is done.

    The log of the project keeps the wording that is given up. `seen` is the SHA-256 of the wording that the
    person read. Raises TextEditConflictError, and TextEditError while a judge is at work.
    """
    entity = version.entity
    lock_for_edit(entity, seen)
    refuse_while_judging(version.dataset)
    if not entity.versions.filter(pk=version.pk).exists():
        raise TextEditError("This version is already restored.")
    if reasons := blockers(version):
        return reasons
    given_up = entity.body or ""
    for edit in edits_since(version):
        undo_text_edit(edit)
        # An entry for each edit: after it, no version has the words that it brought.
        detail = f"{edit.label}, version {edit.number}; given up: {given_up}"
        ProjectEntry.record(edit.dataset.project, by, "restored words", detail, edit.dataset)
        given_up = edit.body
    return []


def compare(old: str, new: str) -> SafeString:
    """Return a word-level diff of two wordings as HTML, with <del> and <ins>."""
    a, b = _TOKEN.findall(old), _TOKEN.findall(new)
    start = _prefix_length(a, b)
    end = _prefix_length(a[start:][::-1], b[start:][::-1])
    changed_a, changed_b = a[start : len(a) - end], b[start : len(b) - end]
    pieces = [("{}", a[:start])]
    if len(changed_a) * len(changed_b) > _MAX_PRODUCT:
        pieces += [("<del>{}</del>", changed_a), ("<ins>{}</ins>", changed_b)]
    else:
        matcher = SequenceMatcher(None, changed_a, changed_b, autojunk=False)
        for kind, i, j, k, n in matcher.get_opcodes():
            if kind == "equal":
                pieces.append(("{}", changed_a[i:j]))
            else:
                pieces += [("<del>{}</del>", changed_a[i:j]), ("<ins>{}</ins>", changed_b[k:n])]
    pieces.append(("{}", a[len(a) - end :]))
    parts = (format_html(element, "".join(tokens)) for element, tokens in pieces if tokens)
    return mark_safe("".join(parts))  # noqa: S308 - each part is escaped


def _prefix_length(a: list[str], b: list[str]) -> int:
    """Return the length of the common prefix, in words."""
    pairs = zip(a, b, strict=False)
    return next(
        (n for n, pair in enumerate(pairs) if pair[0] != pair[1]),
        min(len(a), len(b)),
    )
