"""Text edits of texts and questions: preview, locking, saving, and superseding grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from annotation.errors import UserError
from annotation.models import (
    Campaign,
    Dataset,
    EqualText,
    Item,
    ItemQuestion,
    NuggetSpan,
    ProjectEntry,
    SubQuestion,
    Text,
    User,
    Version,
    digest,
)
from annotation.origins import with_edit
from annotation.text.equal_texts import shifted_spans
from annotation.text.reanchoring import (
    Span,
    TextOrQuestion,
    has_anchor,
    new_position,
    ratings_of,
    reanchored_fields,
    restore_ratings,
    set_wording,
    wording_state,
)
from annotation.text.spans import occurrences

LONGEST = 200  # of what an entry of the log tells


class TextEditError(UserError):
    """Refused text edit; the message gives the reason."""


class TextEditConflictError(TextEditError):
    """Edit conflict: the text was changed since the person read it. It is reloaded."""

    status = 409


@dataclass(frozen=True)
class EditPreview:
    """Preview of a text edit: spans and citations that keep or lose their position."""

    campaigns: tuple[str, ...]  # closed ones that have shown the old words
    n_ratings: int
    n_spans: int
    lost: tuple[str, ...]  # the words of each
    n_citations: int
    lost_citations: tuple[str, ...]


def check_edit(entity: TextOrQuestion, body: str) -> None:
    """Check that a text edit is allowed. Raises TextEditError with the reason."""
    if not body.strip():
        raise TextEditError("Enter the new text.")
    if "\x00" in body:
        raise TextEditError("The new text must not contain a NUL character.")
    if body == entity.body:
        raise TextEditError("There is no change.")
    if isinstance(entity, SubQuestion):
        if entity.topic.questions.filter(body=body).exclude(pk=entity.pk).exists():
            raise TextEditError("Another question of the topic has the same wording.")
    elif entity.body is None:
        raise TextEditError("The dataset does not contain this text: import it.")
    campaigns = _campaigns(entity)
    if campaign := campaigns.published().exclude(state=Campaign.State.CLOSED).first():
        raise TextEditError(f"The campaign {campaign} uses this text: close it first.")
    drafts = campaigns.filter(state=Campaign.State.DRAFT)
    expects = drafts.filter(items__asked__expected__isnull=False)
    if draft := expects.first():
        raise TextEditError(
            f"The draft {draft} has expected answers for this text: delete it first."
        )


def preview_edit(entity: TextOrQuestion, body: str) -> EditPreview:
    """Return the preview of a text edit. Raises TextEditError as `check`."""
    check_edit(entity, body)
    n_ratings = ratings_of(entity).count()
    campaigns = tuple(str(campaign) for campaign in _campaigns(entity).published())
    if isinstance(entity, SubQuestion):
        return EditPreview(campaigns, n_ratings, 0, (), 0, ())
    spans = list(NuggetSpan.objects.filter(rating__text=entity, start__isnull=False).order_by("pk"))
    citations = list(entity.citations.all())
    old = entity.body or ""
    return EditPreview(
        campaigns=campaigns,
        n_ratings=n_ratings,
        n_spans=len(spans),
        lost=tuple(span.quote for span in spans if not has_anchor(span, old, body)),
        n_citations=len(citations),
        lost_citations=tuple(
            old[citation.start : citation.end]
            for citation in citations
            if new_position(entity, body, citation) is None
        ),
    )


def lock_for_edit(entity: TextOrQuestion, read_sha256: str | None = None) -> None:
    """Lock a text or question with its dataset and campaigns, and reload it.

    In a transaction. `read_sha256` is the SHA-256 of the wording that a person read: TextEditConflictError
    if it has changed since. Raises DoesNotExist if the row is gone.
    """
    dataset = entity.dataset_id if isinstance(entity, Text) else entity.topic.dataset_id
    Dataset.objects.lock(dataset)
    list(_campaigns(entity).select_for_update())  # or one of them could open meanwhile
    # Answers become ratings under a lock of the row itself, so that people do not wait for imports.
    row: Any = type(entity)._base_manager.select_for_update(no_key=True)
    entity.refresh_from_db(from_queryset=row)
    check_read_version(entity, read_sha256)


def check_read_version(entity: TextOrQuestion, read_sha256: str | None) -> None:
    """Raise TextEditConflictError if the wording is not the one read; None skips this."""
    if read_sha256 is not None and read_sha256 != digest(entity.body or ""):
        raise TextEditConflictError("Somebody has edited the text since you opened it.")


@transaction.atomic
def edit_wording(
    entity: TextOrQuestion,
    body: str,
    *,
    by: User | None,
    reason: str,
    counts: bool,
    read_sha256: str | None = None,
    is_from_file: bool = False,
) -> Version:
    """Change the body of a text or question; the old one becomes a version.

    With `counts` its grades stay valid, and their spans are re-anchored: an uncertain match loses
    its position and is listed. Else they are superseded, and stored with the version. A wording
    that it had before restores its exact spans and citations. Closed campaigns keep the wording
    that they have shown with their items. `read_sha256` as for `lock`. Raises TextEditError as
    `check`, and TextEditConflictError.
    """
    lock_for_edit(entity, read_sha256)
    check_edit(entity, body)
    dataset = entity.dataset if isinstance(entity, Text) else entity.topic.dataset
    entity_field = {"text": entity} if isinstance(entity, Text) else {"question": entity}
    version = Version(
        dataset=dataset,
        **entity_field,
        number=entity.versions.count() + 1,
        body=entity.body or "",
        why=reason,
        counts=counts,
        n_ratings=ratings_of(entity).count(),
        by=by,
    )
    version.had = wording_state(entity)
    if not counts:
        version.set_aside = ratings_of(entity).set_aside()
    earlier = entity.versions.filter(body=body).order_by("-number").first()
    origins = [] if is_from_file or earlier else with_edit(entity.origins)
    version.citations = set_wording(entity, body, earlier.had if earlier else {}, origins)
    version.save()
    ProjectEntry.record(dataset.project, by, "changed words", _log_detail(entity, version), dataset)
    return version


@transaction.atomic
def set_grades_count(version: Version, *, counts: bool, by: User | None) -> bool:
    """Include or supersede the grades that were given to earlier wordings.

    Return whether that changes anything. Raises TextEditConflictError if this wording has been restored.
    """
    entity = version.entity
    lock_for_edit(entity)
    if not entity.versions.filter(pk=version.pk).exists():
        raise TextEditConflictError("Somebody has restored this version since you opened it.")
    version.refresh_from_db(fields=["counts", "set_aside"])
    if version.counts == counts:
        return False
    if counts:
        version.set_aside = restore_ratings(version)
    else:
        version.set_aside += ratings_of(entity).filter(created__lte=version.replaced).set_aside()
    version.counts = counts
    version.save(update_fields=["counts", "set_aside"])
    action = f"{'restored' if counts else 'superseded'} grades of an earlier wording"
    dataset = version.dataset
    ProjectEntry.record(dataset.project, by, action, _log_detail(entity, version), dataset)
    return True


@transaction.atomic
def anchor_span(span: NuggetSpan, quote: str, by: User | None = None) -> None:
    """Anchor a span without position at a quote that a person has found for it.

    Raises TextEditError unless the quote occurs in the text exactly once, whatever its line ends,
    or if the span has a position already, and DoesNotExist if it is gone.
    """
    text = span.rating.text
    lock_for_edit(text)
    span.refresh_from_db()
    if span.start is not None:
        raise TextEditError(f"Somebody has already placed this span, at “{span.quote}”.")
    matches = occurrences(text.body or "", quote)
    if len(matches) != 1:
        raise TextEditError(
            f"The text must contain these words exactly once. It contains them {len(matches)} times."
        )
    [match] = matches
    span.start, span.end, span.quote = match.start, match.end, match.quote
    span.located = NuggetSpan.Located.NORMALISED
    span.save(update_fields=["start", "end", "quote", "located"])
    dataset = text.dataset
    detail = f"{text.name}: “{span.source_quote}”, at “{match.quote}”"[:LONGEST]
    ProjectEntry.record(dataset.project, by, "placed a span", detail, dataset)


def was_earlier_wording(entity: TextOrQuestion, body: str) -> bool:
    """Return whether this was an earlier wording, with grades that still count."""
    for earlier_body, counts in entity.versions.order_by("-number").values_list("body", "counts"):
        if not counts:
            return False
        if earlier_body == body:
            return True
    return False


def spans_in_current_wording(
    item_question: ItemQuestion, spans: Sequence[Span], rated_at: datetime
) -> list[Span] | None:
    """Re-anchor spans from the wording that a campaign showed in the current wording.

    None where grades of the wording shown are superseded. `rated_at` is their time: the wording may
    have changed since, and been restored, while earlier grades stay superseded.
    """
    item = item_question.item
    if not _counts(item_question.question, item_question.shown_body, rated_at):
        return None
    return _spans_in_current_wording(item.text, item.shown_body, spans, rated_at)


def copied_spans_in_current_wording(
    item_question: ItemQuestion, equal: EqualText, spans: Sequence[Span], rated_at: datetime
) -> list[Span] | None:
    """Return spans of an item's text at the same words of a text of equal words.

    None and `rated_at` as for `spans_in_current_wording`: by the edits of the equal text, and of the question.
    """
    if not _counts(item_question.question, item_question.shown_body, rated_at):
        return None
    read, body = item_question.item.as_shown().body or "", equal.campaign_text().body or ""
    shifted = shifted_spans(spans, read, body)
    return _spans_in_current_wording(equal.text, equal.shown_body, shifted, rated_at)


def _spans_in_current_wording(
    text: Text, shown_body: str | None, spans: Sequence[Span], rated_at: datetime
) -> list[Span] | None:
    if not _counts(text, shown_body, rated_at):
        return None
    if shown_body is None:
        return list(spans)
    return [reanchored_fields(NuggetSpan(**span), shown_body, text.body or "") for span in spans]


def _counts(entity: TextOrQuestion, shown_body: str | None, rated_at: datetime) -> bool:
    """Return whether grades given then to the wording shown count; None: the current one."""
    if entity.versions.filter(counts=False, replaced__gt=rated_at).exists():
        return False
    return shown_body is None or was_earlier_wording(entity, shown_body)


def lost_spans(text: Text) -> Any:
    """Return spans on a text that have no position in it."""
    spans = NuggetSpan.objects.filter(rating__text=text, start=None)
    return spans.select_related("rating__rater", "rating__question", "rating__rubric")


def _campaigns(entity: TextOrQuestion) -> Any:
    """Return campaigns that have items with this text or question, or copy grades to it."""
    items = Item.objects.filter(
        Q(text=entity) | Q(equal_texts__text=entity)
        if isinstance(entity, Text)
        else Q(asked__question=entity)
    )
    return Campaign.objects.filter(pk__in=items.values("campaign"))


def _log_detail(entity: TextOrQuestion, version: Version) -> str:
    name = entity.name if isinstance(entity, Text) else f"{entity.topic}, question {entity.number}"
    return f"{name}, version {version.number}{': ' + version.why if version.why else ''}"[:LONGEST]
