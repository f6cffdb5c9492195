"""The words that a text or a question had last, given back as if they had never been others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.models import Citation, NuggetSpan, Text, Version
from annotation.models.keys import free_keys
from annotation.text.carrying import PLACE, SPAN, keep_shown, new_place, put, put_back


def give_back(version: Version) -> None:
    """Let the thing of its last version have these words again; grades, spans and citations as they were.

    In a transaction, of a version whose words `had` is known of, and of whose new words nobody has need.
    """
    thing, old = version.thing, version.body
    if isinstance(thing, Text):
        _spans_back(thing, old, version.had["spans"])
        _citations_back(thing, version.had["citations"])
        if thing.document_id:
            thing.start, thing.end = version.had["start"], version.had["end"]
    else:
        thing.source_body = version.had["source_body"]
    put_back(version, old if isinstance(thing, Text) else None)
    keep_shown(thing, old)
    thing.body = old
    thing.save()
    version.delete()


def _spans_back(text: Text, old: str, had: list[dict[str, Any]]) -> None:
    """Those that are still the same to their very places; others where their words stand for sure."""
    known = {tuple(row[name] for name in PLACE): row for row in had}
    for span in NuggetSpan.objects.filter(rating__text=text).select_related("rating"):
        rating = span.rating
        row = known.get((rating.rater_id, rating.rubric_id, rating.question_id, span.position))
        if row and _marks_the_same(span, row):
            for name in SPAN:
                setattr(span, name, row[name])
        elif span.start is not None:
            put(span, new_place(text, old, span))
        span.save(update_fields=SPAN)


def _marks_the_same(span: NuggetSpan, had: Mapping[str, Any]) -> bool:
    if span.start is None:
        return span.source_quote == (had["source_quote"] or had["quote"])
    return span.quote == had["quote"]


def _citations_back(report: Text, had: list[dict[str, Any]]) -> None:
    """All of them; one that cited a text which is gone by now names nothing.

    They have the keys that they had, by which an import that brought them is undone.
    """
    report.citations.all().delete()
    there = Text.objects.in_bulk({row["cited_id"] for row in had})
    marks = [Citation(report=report, **row) for row in had]
    free = free_keys(Citation, (mark.pk for mark in marks))
    for mark in marks:
        if mark.cited_id not in there:
            mark.cited_id = None
        if mark.pk not in free:
            mark.pk = None
    Citation.objects.bulk_create(marks)
