"""What stands on the words of a text, carried into other words: spans, citations, what campaigns showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from annotation.models import (
    Campaign,
    Citation,
    NuggetSpan,
    Rating,
    SubQuestion,
    Text,
    Version,
    digest,
)
from annotation.text.anchors import anchored

Worded = Text | SubQuestion
Span = dict[str, Any]  # the fields of a span of a rating
SPAN = ("start", "end", "quote", "source_quote", "located")
PLACE = ("rating__rater", "rating__rubric", "rating__question", "position")  # on a text
CITATION = ("position", "start", "end", "label", "cited_id")


def ratings_of(thing: Worded) -> Any:
    """All ratings of a text, or under a question."""
    return Rating.objects.filter(**{"text" if isinstance(thing, Text) else "question": thing})


def spans_with_a_place(text: Text) -> Iterator[NuggetSpan]:
    yield from NuggetSpan.objects.filter(rating__text=text, start__isnull=False).order_by("pk")


def new_place(text: Text, body: str, marked: NuggetSpan | Citation) -> tuple[int, int] | None:
    """Where what is marked in the words of a text stands in new ones; None where that is not sure."""
    if marked.start is None or marked.end is None:
        return None
    return anchored(text.body or "", body, marked.start, marked.end)


def put(span: NuggetSpan, place: tuple[int, int] | None) -> None:
    """At its place in the new words; without one it keeps the words that it marked."""
    if place:
        span.start, span.end = place
        return
    span.start = span.end = None
    span.source_quote, span.quote = span.source_quote or span.quote, ""
    span.located = NuggetSpan.Located.UNLOCATED


def carried(span: NuggetSpan, old: str, new: str) -> Span:
    """The fields of a span of old words, where it stands in new ones."""
    if span.start is not None and span.end is not None and old != new:
        put(span, anchored(old, new, span.start, span.end))
    return {name: getattr(span, name) for name in SPAN}


def says(rating: Rating | None, grade: int | None, spans: Sequence[Span]) -> bool:
    """Whether a rating is what somebody said: the grade, and the words marked, wherever these are by now."""
    if rating is None or rating.grade != grade:
        return False
    marked = [span.source_quote or span.quote for span in rating.spans.all()]
    return marked == [span["quote"] for span in spans]


def move_spans(text: Text, body: str) -> None:
    """Those of its ratings, before it has the new words."""
    for span in spans_with_a_place(text):
        put(span, new_place(text, body, span))
        span.save(update_fields=SPAN)


def move_citations(text: Text, body: str) -> list[dict[str, Any]]:
    """Move the marks of a report with their statements. Those whose statement is gone go, and are returned."""
    gone = []
    for mark in text.citations.all():
        place = new_place(text, body, mark)
        if place:
            mark.start, mark.end = place
            mark.save(update_fields=["start", "end"])
        else:
            gone.append({name: getattr(mark, name) for name in CITATION})
            mark.delete()
    return gone


def put_back(version: Version, body: str | None = None) -> list[Mapping[str, Any]]:
    """Make again the ratings that were set aside with a version; what stays with it is returned.

    Of those that its text set aside as well, for a version of a question, or its question, for one of a text,
    that is where they are from here on. `body` as for `set_aside_now`.
    """
    rows = set_aside_now(version, body)
    other = "question" if version.text_id else "text"
    keepers = Version.objects.filter(**{f"{other}__in": {row[other] for row in rows}}, counts=False)
    for keeper in keepers.order_by("-number"):
        kept = [row for row in rows if _is_kept(row, keeper, other)]
        if kept:
            keeper.set_aside += kept
            keeper.save(update_fields=["set_aside"])
            rows = [row for row in rows if not _is_kept(row, keeper, other)]
    return Rating.objects.put_back(rows)


def _is_kept(row: Mapping[str, Any], keeper: Version, thing: str) -> bool:
    """Whether a version of its text, or of its question, came after it, and grades do not count there."""
    is_before = datetime.fromisoformat(row["created"]) <= keeper.replaced
    return is_before and row[thing] == getattr(keeper, f"{thing}_id")


def set_aside_now(version: Version, body: str | None = None) -> list[dict[str, Any]]:
    """What was set aside with a version, its spans where they stand in the words that their texts have now.

    `body` are words that its text is about to get in place of those.
    """
    texts = Text.objects.in_bulk({row["text"] for row in version.set_aside})
    known = {pk: _known(text, version) for pk, text in texts.items()}
    rows = []
    for row in version.set_aside:
        text = texts.get(row["text"])
        if text is None:  # it was removed since, and nobody asks for its grades
            continue
        now = (text.body if body is None else body) or ""
        is_told = "text_sha256" in row
        then = known[text.pk].get(row["text_sha256"]) if is_told else _then(row, version, text)
        spans = [NuggetSpan(**span) for span in row["spans"]]
        if then is None:
            for span in spans:
                put(span, None)
        carried_over = [carried(span, then or now, now) for span in spans]
        rows.append({**row, "spans": carried_over, "text_sha256": digest(now)})
    return rows


def _known(text: Text, version: Version) -> dict[str, str]:
    """All words that a text has or had, by their hash."""
    bodies = [text.body or "", version.body, *text.versions.values_list("body", flat=True)]
    return {digest(body): body for body in bodies}


def _then(row: Mapping[str, Any], version: Version, text: Text) -> str | None:
    """The words of spans that were set aside before the hash was kept; None where nobody knows.

    They are those before the version, but for rows that are `is_placed`.
    """
    if version.text_id:
        return text.body if row.get("is_placed") else version.body
    later = text.versions.filter(replaced__gt=version.replaced).order_by("number").first()
    if later is None:
        return text.body
    return None if row.get("is_placed") else later.body


def had_with_words(thing: Worded) -> dict[str, Any]:
    """What stands on the words of now, and new ones change: what `Version.had` keeps."""
    if isinstance(thing, SubQuestion):
        return {"source_body": thing.source_body}
    return {
        "spans": list(NuggetSpan.objects.filter(rating__text=thing).values(*PLACE, *SPAN)),
        "citations": list(thing.citations.values("pk", *CITATION)),
        "start": thing.start,
        "end": thing.end,
    }


def keep_shown(thing: Worded, body: str) -> None:
    """Beside the items of campaigns that were open, before the words become others."""
    rows: Any = thing.items if isinstance(thing, Text) else thing.asked_in
    campaign = "campaign" if isinstance(thing, Text) else "item__campaign"
    shown = rows.exclude(**{f"{campaign}__state": Campaign.State.DRAFT})
    shown.filter(shown_body=None).update(shown_body=thing.body)
    shown.filter(shown_body=body).update(shown_body=None)
