"""Texts of equal words: the same words in one topic, but for white space at the ends.

A judge is asked about one of them, and so are people where their campaign says so; the grades are
copied to the others. This module has the one notion of equality for both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Right, Substr

from annotation.models.corpus import Text, digest

Span = dict[str, Any]  # with start, end and quote


def wording_key(body: str) -> str:
    """Return the SHA-256 of a body without white space at its ends."""
    return digest(body.strip())


def wording_keys(texts: QuerySet[Text]) -> dict[int, str]:
    """Return the wording keys of texts by primary key; texts without a body are left out.

    Only bodies with white space at an end are read: for all others the key is the stored hash.
    """
    ends = texts.order_by().filter(body__isnull=False)
    rows = ends.values_list("pk", "sha256", Substr("body", 1, 1), Right("body", 1))
    keys, padded = {}, []
    for pk, sha256, first, last in rows:
        keys[pk] = sha256
        if (first + last).strip() != first + last:
            padded.append(pk)
    bodies = Text.objects.filter(pk__in=padded).values_list("pk", "body").order_by()
    return keys | {pk: wording_key(body or "") for pk, body in bodies}


def shifted_spans(spans: Sequence[Mapping[str, Any]], body: str, equal_body: str) -> list[Span]:
    """Return spans of a body at the same words of a body of equal words.

    White space at an end of the body is cut off from a span, as the equal body may have none.
    """
    first, last = _lead(body), len(body.rstrip())
    offset = _lead(equal_body) - first
    shifted = []
    for span in spans:
        if span["start"] is None:  # a quote that the text does not hold
            shifted.append(dict(span))
            continue
        start, end = max(span["start"], first) + offset, min(span["end"], last) + offset
        if start < end:
            shifted.append({**span, "start": start, "end": end, "quote": equal_body[start:end]})
    return shifted


def _lead(body: str) -> int:
    return len(body) - len(body.lstrip())
