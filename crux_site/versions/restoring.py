"""Restoring earlier words: an undo of the edits since, with grades, spans and citations as they were."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from django.db import transaction
from django.db.models import QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotation.models import ProjectEntry, Rating, SubQuestion, User, Version
from annotation.text.versions import RewordingRefused, lock
from crux_site.removal import Standing
from crux_site.versions.changing import nobody_judges, take_back
from crux_site.versions.needed import needed, taken

_WORDS = re.compile(r"\S+\s*|\s+")
# Comparing takes the product of the lengths in time; longer changes are told as one deletion and one insertion.
_MOST = 4_000_000


def edits_since(version: Version) -> QuerySet[Version]:
    """The edits that a restore of this wording undoes, the newest first."""
    return version.thing.versions.filter(number__gte=version.number).order_by("-number")


def blockers(version: Version) -> list[Standing]:
    """Rows that need one of the wordings since; they keep this one from being restored."""
    edits = edits_since(version)
    return needed(edits, Rating.objects.none()) + taken(edits, SubQuestion.objects.none())


@transaction.atomic
def restore(version: Version, *, by: User, seen: str) -> list[Standing]:
    """Give a text or a question back the wording of a version. Returns the blockers; none where it is done.

    The log of the project keeps the wording that is given up. `seen` is the SHA-256 of the wording that the
    person read. Raises EditConflict, and RewordingRefused while a judge is at work.
    """
    thing = version.thing
    lock(thing, seen)
    nobody_judges(version.dataset)
    if not thing.versions.filter(pk=version.pk).exists():
        raise RewordingRefused("These words have been restored already.")
    if found := blockers(version):
        return found
    given_up = thing.body or ""
    for edit in edits_since(version):
        take_back(edit)
        # An entry for each edit: after it, no version has the words that it brought.
        detail = f"{edit.label}, version {edit.number}; given up: {given_up}"
        ProjectEntry.record(edit.dataset.project, by, "restored words", detail, edit.dataset)
        given_up = edit.body
    return []


def compare(old: str, new: str) -> SafeString:
    """A word-by-word comparison of two wordings as HTML, with <del> and <ins>."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    start = _shared(a, b)
    end = _shared(a[start:][::-1], b[start:][::-1])
    changed_a, changed_b = a[start : len(a) - end], b[start : len(b) - end]
    pieces = [("{}", a[:start])]
    if len(changed_a) * len(changed_b) > _MOST:
        pieces += [("<del>{}</del>", changed_a), ("<ins>{}</ins>", changed_b)]
    else:
        matcher = SequenceMatcher(None, changed_a, changed_b, autojunk=False)
        for kind, i, j, k, n in matcher.get_opcodes():
            if kind == "equal":
                pieces.append(("{}", changed_a[i:j]))
            else:
                pieces += [("<del>{}</del>", changed_a[i:j]), ("<ins>{}</ins>", changed_b[k:n])]
    pieces.append(("{}", a[len(a) - end :]))
    parts = (format_html(element, "".join(words)) for element, words in pieces if words)
    return mark_safe("".join(parts))  # noqa: S308 - each part is escaped


def _shared(a: list[str], b: list[str]) -> int:
    """Length of the common prefix, in words."""
    pairs = zip(a, b, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(a), len(b)))
