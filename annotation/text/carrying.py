"""What stands on the words of a text, carried into other words: spans, citations, what campaigns showed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
from annotation.models.keys import free_keys
from annotation.text.anchors import anchored

Worded = Text | SubQuestion
Span = dict[str, Any]  # the fields of a span of a rating
SPAN = (*NuggetSpan.POSITION, "earlier_positions")
CITATION = ("position", "start", "end", "label", "cited_id")


def ratings_of(thing: Worded) -> Any:
    """All ratings of a text, or under a question."""
    return Rating.objects.filter(**{"text" if isinstance(thing, Text) else "question": thing})


def lock_wordings(texts: Collection[int], questions: Collection[int]) -> None:
    """Lock texts and questions by their keys, in one order for all. In a transaction.

    For whoever writes ratings with spans in their current words: a text edit waits until these are committed,
    and moves them, or is waited for.
    """
    for model, keys in ((Text, texts), (SubQuestion, questions)):
        rows = model._base_manager.select_for_update(no_key=True).filter(pk__in=keys)
        list(rows.order_by("pk").values_list("pk", flat=True))


def new_place(text: Text, body: str, marked: NuggetSpan | Citation) -> tuple[int, int] | None:
    """Where what is marked in the words of a text stands in new ones; None where that is not sure."""
    if marked.start is None or marked.end is None:
        return None
    return anchored(text.body or "", body, marked.start, marked.end)


def has_place_in(span: NuggetSpan, old: str, new: str) -> bool:
    """Return True if a span of the old wording has a position in the new one."""
    known = (span.earlier_positions or {}).get(digest(new))
    if known:
        return known["start"] is not None
    return span.start is not None and anchored(old, new, span.start, span.end or 0) is not None


def reanchor(span: NuggetSpan, sha256: str, old: str | None, new: str) -> None:
    """Move a span from one wording of its text to another. Nothing is saved.

    `sha256` is of the wording that its position is in, `old` that wording, None where it is not known. The
    position is kept under its wording. A wording that the span has been in before gives it the position that it
    had there, exactly; otherwise its quote is looked for, and what is not found for sure loses its position.
    """
    if sha256 == (after := digest(new)):
        return
    positions = dict(span.earlier_positions or {})
    positions[sha256] = {name: getattr(span, name) for name in NuggetSpan.POSITION}
    if known := positions.pop(after, None):
        for name in NuggetSpan.POSITION:
            setattr(span, name, known[name])
    elif span.start is not None and span.end is not None:
        place = None if old is None else anchored(old, new, span.start, span.end)
        if place:
            span.start, span.end = place
        else:
            _lose_position(span)
    span.earlier_positions = positions


def _lose_position(span: NuggetSpan) -> None:
    """Remove the position of a span; its quote stays as `source_quote`."""
    span.start = span.end = None
    span.source_quote, span.quote = span.source_quote or span.quote, ""
    span.located = NuggetSpan.Located.UNLOCATED


def carried(span: NuggetSpan, old: str, new: str) -> Span:
    """The fields of a span of old words, where it stands in new ones."""
    reanchor(span, digest(old), old, new)
    return span.position_fields()


def spans_now(text: Text, spans: Sequence[Span], text_sha256: str) -> list[Span]:
    """The fields of spans of the wording with this hash, where they stand in the current one."""
    moved = [NuggetSpan(**span) for span in spans]
    for span in moved:
        reanchor(span, text_sha256, _wordings(text).get(text_sha256), text.body or "")
    return [span.position_fields() for span in moved]


def says(rating: Rating | None, grade: int | None, spans: Sequence[Span]) -> bool:
    """Whether a rating is what somebody said: the grade, and the words marked, wherever these are by now."""
    if rating is None or rating.grade != grade:
        return False
    marked = [span.source_quote or span.quote for span in rating.spans.all()]
    return marked == [span["quote"] for span in spans]


def move_spans(text: Text, body: str) -> None:
    """Re-anchor those of its ratings, before it has the new words."""
    spans = list(NuggetSpan.objects.filter(rating__text=text).order_by("pk"))
    for span in spans:
        reanchor(span, text.sha256, text.body, body)
    NuggetSpan.objects.bulk_update(spans, SPAN, batch_size=200)


def move_citations(
    report: Text, body: str, had: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Move the marks of a report with their statements. Those whose statement is gone go, and are returned.

    `had` are the marks that it had with this wording, if it has had it before: they get exactly their
    places, and those that had gone come back, with the key by which an import that brought them is undone.
    """
    gone, earlier = [], {(row["position"], row["label"]): row for row in had}
    taken = set()
    for mark in report.citations.all():
        row = earlier.pop((mark.position, mark.label), None)
        place = (row["start"], row["end"]) if row else new_place(report, body, mark)
        if place:
            mark.start, mark.end = place
            mark.save(update_fields=["start", "end"])
            taken.add(mark.position)
        else:
            gone.append({name: getattr(mark, name) for name in CITATION})
            mark.delete()
    _make_again(report, list(earlier.values()), taken)
    return gone


def _make_again(report: Text, rows: Sequence[Mapping[str, Any]], taken: set[int]) -> None:
    """Marks that had gone; one that cited a text which is gone by now names nothing."""
    there = Text.objects.in_bulk({row["cited_id"] for row in rows})
    marks = [Citation(report=report, **row) for row in rows]
    free = free_keys(Citation, (mark.pk for mark in marks))
    for mark in marks:
        if mark.cited_id not in there:
            mark.cited_id = None
        if mark.pk not in free:
            mark.pk = None
        if mark.position in taken:  # of a mark that came while this one was gone
            mark.position = max(taken) + 1
        taken.add(mark.position)
    Citation.objects.bulk_create(marks)


def put_back(version: Version, given_up: str | None = None) -> list[Mapping[str, Any]]:
    """Make again the ratings that were set aside with a version; what stays with it is returned.

    Of those that its text set aside as well, for a version of a question, or its question, for one of a text,
    that is where they are from here on. `given_up` as for `set_aside_now`.
    """
    rows = set_aside_now(version, given_up)
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


def set_aside_now(version: Version, given_up: str | None = None) -> list[dict[str, Any]]:
    """Rows of the superseded ratings of a version, with spans in the current wording of their texts.

    `given_up` is the wording that an undo has just taken from its text, and that no version has.
    """
    texts = Text.objects.in_bulk({row["text"] for row in version.set_aside})
    others = {digest(body): body for body in (version.body, given_up or "")}
    known = {pk: others | _wordings(text) for pk, text in texts.items()}
    rows = []
    for row in version.set_aside:
        text = texts.get(row["text"])
        if text is None:  # it was removed since, and nobody asks for its grades
            continue
        now = text.body or ""
        if "text_sha256" in row:
            sha256 = row["text_sha256"]
            then = known[text.pk].get(sha256)
        else:
            then = _then(row, version, text, given_up)
            sha256 = digest(then or "")
        spans = [NuggetSpan(**span) for span in row["spans"]]
        for span in spans:
            reanchor(span, sha256, then, now)
        fields = [span.position_fields() for span in spans]
        rows.append({**row, "spans": fields, "text_sha256": digest(now)})
    return rows


def _wordings(text: Text) -> dict[str, str]:
    """All words that a text has or had, by their hash."""
    bodies = [text.body or "", *text.versions.values_list("body", flat=True)]
    return {digest(body): body for body in bodies}


def _then(row: Mapping[str, Any], version: Version, text: Text, given_up: str | None) -> str | None:
    """The words of spans that were set aside before the hash was kept; None where nobody knows.

    They are those before the version, but for rows that are `is_placed`.
    """
    if version.text_id:
        return (given_up or text.body) if row.get("is_placed") else version.body
    later = text.versions.filter(replaced__gt=version.replaced).order_by("number").first()
    if later is None:
        return text.body
    return None if row.get("is_placed") else later.body


def had_with_words(thing: Worded) -> dict[str, Any]:
    """What stands on the words of now, and new ones change: what `Version.had` keeps."""
    if isinstance(thing, SubQuestion):
        return {"source_body": thing.source_body}
    return {
        "citations": list(thing.citations.values("pk", *CITATION)),
        "document": thing.document_id,
        "start": thing.start,
        "end": thing.end,
    }


def give_words(thing: Worded, body: str, had: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Save the wording of a text or a question, with what hangs on it. In a transaction.

    `had` is what it had with this wording before, empty where the wording is new. The citations
    whose statements are not in it are returned.
    """
    gone: list[dict[str, Any]] = []
    if isinstance(thing, Text):
        gone = move_citations(thing, body, had.get("citations", ()))
        move_spans(thing, body)
        # In its document other words stand at its place, unless they are those again.
        is_from_there = had and thing.document_id == had.get("document", thing.document_id)
        thing.start, thing.end = (had["start"], had["end"]) if is_from_there else (None, None)
        if thing.document_id is None:
            thing.start = thing.end = None
        fields = ["body", "sha256", "start", "end"]
    else:
        thing.source_body = had.get("source_body", "")  # the old words, with their white space
        fields = ["body", "source_body"]
    keep_shown(thing, body)
    thing.body = body
    thing.save(update_fields=fields)
    return gone


def keep_shown(thing: Worded, body: str) -> None:
    """Beside the items of campaigns that were open, before the words become others."""
    rows: Any = thing.items if isinstance(thing, Text) else thing.asked_in
    campaign = "campaign" if isinstance(thing, Text) else "item__campaign"
    shown = rows.exclude(**{f"{campaign}__state": Campaign.State.DRAFT})
    shown.filter(shown_body=None).update(shown_body=thing.body)
    shown.filter(shown_body=body).update(shown_body=None)
