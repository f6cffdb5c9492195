"""Re-anchoring in an edited text: spans, citations, and wordings shown by campaigns."""

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
from annotation.origins import Origin
from annotation.text.anchors import anchor_quote

TextOrQuestion = Text | SubQuestion
Span = dict[str, Any]  # the fields of a span of a rating
SPAN = (*NuggetSpan.POSITION, "earlier_positions")
CITATION = ("position", "start", "end", "label", "cited_id")


def ratings_of(entity: TextOrQuestion) -> Any:
    """Return all ratings of a text, or under a question."""
    return Rating.objects.filter(**{"text" if isinstance(entity, Text) else "question": entity})


def lock_wordings(texts: Collection[int], questions: Collection[int]) -> None:
    """Lock texts and questions by their keys, in one order for all. In a transaction.

    Needed to write ratings with spans in the current wording: a text edit waits until these are
    committed, and moves them, or is waited for.
    """
    for model, keys in ((Text, texts), (SubQuestion, questions)):
        rows = model._base_manager.select_for_update(no_key=True).filter(pk__in=keys)
        list(rows.order_by("pk").values_list("pk", flat=True))


def new_position(text: Text, body: str, marked: NuggetSpan | Citation) -> tuple[int, int] | None:
    """Return [start, end) of a span or citation in a new body; None where that is uncertain."""
    if marked.start is None or marked.end is None:
        return None
    return anchor_quote(text.body or "", body, marked.start, marked.end)


def has_anchor(span: NuggetSpan, old: str, new: str) -> bool:
    """Return whether a span of the old wording has a position in the new one."""
    earlier_position = (span.earlier_positions or {}).get(digest(new))
    if earlier_position:
        return earlier_position["start"] is not None
    return span.start is not None and anchor_quote(old, new, span.start, span.end or 0) is not None


def reanchor(span: NuggetSpan, sha256: str, old: str | None, new: str) -> None:
    """Move a span from one wording of its text to another. Nothing is saved.

    `sha256` is of the wording that its position is in, `old` that wording, None where it is not
    known. The position is kept under its wording. A wording that the span has been in before
    restores its exact position there; otherwise its quote is searched for, and an uncertain match
    loses its position.
    """
    if sha256 == (new_sha256 := digest(new)):
        return
    positions = dict(span.earlier_positions or {})
    positions[sha256] = {name: getattr(span, name) for name in NuggetSpan.POSITION}
    if earlier_position := positions.pop(new_sha256, None):
        for name in NuggetSpan.POSITION:
            setattr(span, name, earlier_position[name])
    elif span.start is not None and span.end is not None:
        position = None if old is None else anchor_quote(old, new, span.start, span.end)
        if position:
            span.start, span.end = position
        else:
            _lose_position(span)
    span.earlier_positions = positions


def _lose_position(span: NuggetSpan) -> None:
    """Remove the position of a span; its quote stays as `source_quote`."""
    span.start = span.end = None
    span.source_quote, span.quote = span.source_quote or span.quote, ""
    span.located = NuggetSpan.Located.UNLOCATED


def reanchored_fields(span: NuggetSpan, old: str, new: str) -> Span:
    """Return the fields of a span of an old wording, re-anchored in a new one."""
    reanchor(span, digest(old), old, new)
    return span.position_fields()


def current_spans(text: Text, spans: Sequence[Span], text_sha256: str) -> list[Span]:
    """Return the fields of spans of the wording with this hash, re-anchored in the current."""
    moved = [NuggetSpan(**span) for span in spans]
    for span in moved:
        reanchor(span, text_sha256, _wordings(text).get(text_sha256), text.body or "")
    return [span.position_fields() for span in moved]


def matches_answer(rating: Rating | None, grade: int | None, spans: Sequence[Span]) -> bool:
    """Return whether a rating has this grade and these quotes, at any position."""
    if rating is None or rating.grade != grade:
        return False
    marked = [span.source_quote or span.quote for span in rating.spans.all()]
    return marked == [span["quote"] for span in spans]


def move_spans(text: Text, body: str) -> None:
    """Re-anchor the spans of a text's ratings, before its body changes."""
    spans = list(NuggetSpan.objects.filter(rating__text=text).order_by("pk"))
    for span in spans:
        reanchor(span, text.sha256, text.body, body)
    NuggetSpan.objects.bulk_update(spans, SPAN, batch_size=200)


def move_citations(
    report: Text, body: str, had: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Move the citations of a report with their statements; delete and return the others.

    `had` are the citations of this wording, if the report has had it before: they get their exact
    positions, and deleted ones are restored, with the key by which an import that brought them is
    undone.
    """
    removed, earlier = [], {(row["position"], row["label"]): row for row in had}
    used_positions = set()
    for citation in report.citations.all():
        row = earlier.pop((citation.position, citation.label), None)
        position = (row["start"], row["end"]) if row else new_position(report, body, citation)
        if position:
            citation.start, citation.end = position
            citation.save(update_fields=["start", "end"])
            used_positions.add(citation.position)
        else:
            removed.append({name: getattr(citation, name) for name in CITATION})
            citation.delete()
    _restore_citations(report, list(earlier.values()), used_positions)
    return removed


def _restore_citations(
    report: Text, rows: Sequence[Mapping[str, Any]], used_positions: set[int]
) -> None:
    """Restore deleted citations; one of a text that no longer exists names nothing."""
    existing = Text.objects.in_bulk({row["cited_id"] for row in rows})
    citations = [Citation(report=report, **row) for row in rows]
    free = free_keys(Citation, (citation.pk for citation in citations))
    for citation in citations:
        if citation.cited_id not in existing:
            citation.cited_id = None
        if citation.pk not in free:
            citation.pk = None
        if citation.position in used_positions:  # of a mark that came while this one was gone
            citation.position = max(used_positions) + 1
        used_positions.add(citation.position)
    Citation.objects.bulk_create(citations)


def restore_ratings(version: Version, given_up: str | None = None) -> list[Mapping[str, Any]]:
    """Restore the superseded ratings of a version; return rows that stay with it.

    Rows that an edit of their text has superseded as well (for a version of a question; of their
    question, for one of a text) move to that version. `given_up` as for `set_aside_now`.
    """
    rows = superseded_rows(version, given_up)
    other_field = "question" if version.text_id else "text"
    later_versions = Version.objects.filter(
        **{f"{other_field}__in": {row[other_field] for row in rows}}, counts=False
    )
    for later_version in later_versions.order_by("-number"):
        superseded = [row for row in rows if _is_superseded_again(row, later_version, other_field)]
        if superseded:
            later_version.set_aside += superseded
            later_version.save(update_fields=["set_aside"])
            rows = [
                row for row in rows if not _is_superseded_again(row, later_version, other_field)
            ]
    return Rating.objects.restore(rows)


def _is_superseded_again(row: Mapping[str, Any], later_version: Version, field: str) -> bool:
    """Return whether a later version of the row's text or question supersedes it, too."""
    is_before = datetime.fromisoformat(row["created"]) <= later_version.replaced
    return is_before and row[field] == getattr(later_version, f"{field}_id")


def superseded_rows(version: Version, given_up: str | None = None) -> list[dict[str, Any]]:
    """Return the superseded ratings of a version, with spans in the current wording.

    `given_up` is the wording that an undo has just taken from its text, and that no version has.
    """
    texts = Text.objects.in_bulk({row["text"] for row in version.set_aside})
    extra_wordings = {digest(body): body for body in (version.body, given_up or "")}
    wordings = {pk: extra_wordings | _wordings(text) for pk, text in texts.items()}
    rows = []
    for row in version.set_aside:
        text = texts.get(row["text"])
        if text is None:  # it was removed since, and nobody asks for its grades
            continue
        new_body = text.body or ""
        if "text_sha256" in row:
            sha256 = row["text_sha256"]
            old_body = wordings[text.pk].get(sha256)
        else:
            old_body = _old_wording(row, version, text, given_up)
            sha256 = digest(old_body or "")
        spans = [NuggetSpan(**span) for span in row["spans"]]
        for span in spans:
            reanchor(span, sha256, old_body, new_body)
        fields = [span.position_fields() for span in spans]
        rows.append({**row, "spans": fields, "text_sha256": digest(new_body)})
    return rows


def _wordings(text: Text) -> dict[str, str]:
    """Return all current and earlier wordings of a text by their hash."""
    bodies = [text.body or "", *text.versions.values_list("body", flat=True)]
    return {digest(body): body for body in bodies}


def _old_wording(
    row: Mapping[str, Any], version: Version, text: Text, given_up: str | None
) -> str | None:
    """Return the wording of spans superseded before the hash was stored; None if unknown.

    It is the wording before the version, except for rows with `is_placed`.
    """
    if version.text_id:
        return (given_up or text.body) if row.get("is_placed") else version.body
    later = text.versions.filter(replaced__gt=version.replaced).order_by("number").first()
    if later is None:
        return text.body
    return None if row.get("is_placed") else later.body


def wording_state(entity: TextOrQuestion) -> dict[str, Any]:
    """Return everything tied to the current wording that an edit changes, for `Version.had`."""
    origins = {"origins": entity.origins} if entity.origins else {}
    if isinstance(entity, SubQuestion):
        return {"source_body": entity.source_body, **origins}
    return {
        "citations": list(entity.citations.values("pk", *CITATION)),
        "document": entity.document_id,
        "start": entity.start,
        "end": entity.end,
        **origins,
    }


def set_wording(
    entity: TextOrQuestion, body: str, had: Mapping[str, Any], origins: Sequence[Origin] = ()
) -> list[dict[str, Any]]:
    """Save a new wording of a text or question and re-anchor. In a transaction.

    `had` is the `Version.had` of this wording, empty where it is new: then `origins` are its origins.
    Citations whose statements are not in the wording are returned.
    """
    removed: list[dict[str, Any]] = []
    if isinstance(entity, Text):
        removed = move_citations(entity, body, had.get("citations", ()))
        move_spans(entity, body)
        # The offsets in the source document are valid only for a restored wording.
        has_source_position = had and entity.document_id == had.get("document", entity.document_id)
        entity.start, entity.end = (
            (had["start"], had["end"]) if has_source_position else (None, None)
        )
        if entity.document_id is None:
            entity.start = entity.end = None
        fields = ["body", "sha256", "start", "end", "origins"]
    else:
        entity.source_body = had.get("source_body", "")  # the old words, with their white space
        fields = ["body", "source_body", "origins"]
    entity.origins = list(had.get("origins", ()) if had else origins)
    freeze_shown_wording(entity, body)
    entity.body = body
    entity.save(update_fields=fields)
    return removed


def freeze_shown_wording(entity: TextOrQuestion, body: str) -> None:
    """Store the old wording with the items of opened campaigns, before the body changes."""
    rows: Any = entity.items if isinstance(entity, Text) else entity.asked_in
    campaign = "campaign" if isinstance(entity, Text) else "item__campaign"
    _freeze(rows.exclude(**{f"{campaign}__state": Campaign.State.DRAFT}), entity.body, body)
    if isinstance(entity, Text):
        equal = entity.equal_in_items.exclude(item__campaign__state=Campaign.State.DRAFT)
        _freeze(equal, entity.body, body)


def _freeze(rows: Any, old: str | None, new: str) -> None:
    rows.filter(shown_body=None).update(shown_body=old)
    rows.filter(shown_body=new).update(shown_body=None)
