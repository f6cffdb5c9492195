"""New words for a text or a question that is there: what they would do, and the doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import (
    Campaign,
    Dataset,
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
from annotation.text.carrying import (
    Span,
    Worded,
    carried,
    give_words,
    had_with_words,
    has_place_in,
    new_place,
    put_back,
    ratings_of,
)

LONGEST = 200  # of what an entry of the log tells


class RewordingRefused(Exception):
    """The words cannot change; the message says why."""


class EditConflict(RewordingRefused):
    """Somebody else has changed the words since the person read them. The thing has been read again."""


@dataclass(frozen=True)
class Outlook:
    """What new words would do: which spans and citations keep their place, and which would lose it."""

    campaigns: tuple[str, ...]  # closed ones that have shown the old words
    n_ratings: int
    n_spans: int
    lost: tuple[str, ...]  # the words of each
    n_citations: int
    lost_citations: tuple[str, ...]


def check(thing: Worded, body: str) -> None:
    """Raises RewordingRefused where the words may not change: people are shown the old ones."""
    if not body.strip():
        raise RewordingRefused("Give the new words.")
    if "\x00" in body:
        raise RewordingRefused("The new words have a NUL in them, which no database keeps.")
    if body == thing.body:
        raise RewordingRefused("These are the words that are there.")
    if isinstance(thing, SubQuestion):
        if thing.topic.questions.filter(body=body).exclude(pk=thing.pk).exists():
            raise RewordingRefused("Another question of the topic has these words.")
    elif thing.body is None:
        raise RewordingRefused("It has no words here: import them.")
    campaigns = _campaigns(thing)
    if campaign := campaigns.published().exclude(state=Campaign.State.CLOSED).first():
        raise RewordingRefused(f"The campaign {campaign} shows these words: close it first.")
    drafts = campaigns.filter(state=Campaign.State.DRAFT)
    expects = drafts.filter(items__asked__expected__isnull=False)
    if draft := expects.first():
        raise RewordingRefused(
            f"The draft {draft} expects answers to these words: discard it first."
        )


def outlook(thing: Worded, body: str) -> Outlook:
    """What the new words would do to what stands on the old ones. Raises RewordingRefused as `check`."""
    check(thing, body)
    n_ratings = ratings_of(thing).count()
    campaigns = tuple(str(campaign) for campaign in _campaigns(thing).published())
    if isinstance(thing, SubQuestion):
        return Outlook(campaigns, n_ratings, 0, (), 0, ())
    spans = list(NuggetSpan.objects.filter(rating__text=thing, start__isnull=False).order_by("pk"))
    citations = list(thing.citations.all())
    old = thing.body or ""
    return Outlook(
        campaigns=campaigns,
        n_ratings=n_ratings,
        n_spans=len(spans),
        lost=tuple(span.quote for span in spans if not has_place_in(span, old, body)),
        n_citations=len(citations),
        lost_citations=tuple(
            old[mark.start : mark.end] for mark in citations if new_place(thing, body, mark) is None
        ),
    )


def lock(thing: Worded, seen: str | None = None) -> None:
    """Lock a text or a question, with its dataset and campaigns, and read it again. In a transaction.

    `seen` is the SHA-256 of the wording that a person read: EditConflict where it is another one by now. Raises
    DoesNotExist where the thing is gone.
    """
    dataset = thing.dataset_id if isinstance(thing, Text) else thing.topic.dataset_id
    Dataset.objects.lock(dataset)
    list(_campaigns(thing).select_for_update())  # or one of them could open meanwhile
    # What people answered becomes a rating under a lock of the row itself: they need not wait for imports.
    row: Any = type(thing)._base_manager.select_for_update(no_key=True)
    thing.refresh_from_db(from_queryset=row)
    check_seen(thing, seen)


def check_seen(thing: Worded, seen: str | None) -> None:
    """Raises EditConflict where a person has read other words than the thing has; None is of nobody."""
    if seen is not None and seen != digest(thing.body or ""):
        raise EditConflict("Somebody has changed the words since you opened them.")


@transaction.atomic
def reword(
    thing: Worded, body: str, *, by: User | None, why: str, counts: bool, seen: str | None = None
) -> Version:
    """Give a text or a question new words; the old ones become a version.

    Grades that were given to it count on with `counts`, and their spans move with their words: what is not
    found for sure loses its place and is listed. Else they are set aside with the version. Words that it had
    before get exactly the spans and citations that they had. Campaigns that are closed keep what they have
    shown beside their items. `seen` as for `lock`. Raises RewordingRefused as `check`, and EditConflict.
    """
    lock(thing, seen)
    check(thing, body)
    dataset = thing.dataset if isinstance(thing, Text) else thing.topic.dataset
    of_thing = {"text": thing} if isinstance(thing, Text) else {"question": thing}
    version = Version(
        dataset=dataset,
        **of_thing,
        number=thing.versions.count() + 1,
        body=thing.body or "",
        why=why,
        counts=counts,
        n_ratings=ratings_of(thing).count(),
        by=by,
    )
    version.had = had_with_words(thing)
    if not counts:
        version.set_aside = ratings_of(thing).set_aside()
    earlier = thing.versions.filter(body=body).order_by("-number").first()
    version.citations = give_words(thing, body, earlier.had if earlier else {})
    version.save()
    ProjectEntry.record(dataset.project, by, "changed words", _told(thing, version), dataset)
    return version


@transaction.atomic
def choose(version: Version, *, counts: bool, by: User | None) -> bool:
    """Let the grades that were given to a thing's last words before these count, or count no more.

    Returns whether that changes anything. Raises EditConflict where these words have been restored.
    """
    thing = version.thing
    lock(thing)
    if not thing.versions.filter(pk=version.pk).exists():
        raise EditConflict("Somebody has restored these words since you opened them.")
    version.refresh_from_db(fields=["counts", "set_aside"])
    if version.counts == counts:
        return False
    if counts:
        version.set_aside = put_back(version)
    else:
        version.set_aside += ratings_of(thing).filter(created__lte=version.replaced).set_aside()
    version.counts = counts
    version.save(update_fields=["counts", "set_aside"])
    what = "grades of earlier words count" if counts else "set grades of earlier words aside"
    dataset = version.dataset
    ProjectEntry.record(dataset.project, by, what, _told(thing, version), dataset)
    return True


@transaction.atomic
def place_by_words(span: NuggetSpan, words: str, by: User | None = None) -> None:
    """Give a span that has no place the place of words that a person found for it.

    Raises RewordingRefused where they do not stand in the text exactly once, or the span has a place by now,
    and DoesNotExist where it is gone.
    """
    text = span.rating.text
    lock(text)
    span.refresh_from_db()
    if span.start is not None:
        raise RewordingRefused(f"Somebody has placed this span already, at “{span.quote}”.")
    body = text.body or ""
    if not words.strip() or body.count(words) != 1:
        n = body.count(words) if words.strip() else 0
        raise RewordingRefused(
            f"The text must have these words once, exactly so. It has them {n} times."
        )
    span.start = body.index(words)
    span.end = span.start + len(words)
    span.quote = words
    span.located = NuggetSpan.Located.NORMALISED
    span.save(update_fields=["start", "end", "quote", "located"])
    dataset = text.dataset
    detail = f"{text.name}: “{span.source_quote}”, at “{words}”"[:LONGEST]
    ProjectEntry.record(dataset.project, by, "placed a span", detail, dataset)


def had_before(thing: Worded, body: str) -> bool:
    """Whether it had exactly these words before, and grades that were given to them count."""
    for words, counts in thing.versions.order_by("-number").values_list("body", "counts"):
        if not counts:
            return False
        if words == body:
            return True
    return False


def as_now(asked: ItemQuestion, spans: Sequence[Span], said: datetime) -> list[Span] | None:
    """What somebody marked in words that a campaign showed, where it stands in the words of now.

    None where grades of the words that were shown are set aside. `said` is when: words may have been others
    since, and come back, while the grades of before stay aside.
    """
    item, text = asked.item, asked.item.text
    if not _counts(asked.question, asked.shown_body, said):
        return None
    if not _counts(text, item.shown_body, said):
        return None
    if item.shown_body is None:
        return list(spans)
    return [carried(NuggetSpan(**span), item.shown_body, text.body or "") for span in spans]


def _counts(thing: Worded, shown: str | None, said: datetime) -> bool:
    """Whether grades count that were given then to the words that were shown; None: the words of now."""
    if thing.versions.filter(counts=False, replaced__gt=said).exists():
        return False
    return shown is None or had_before(thing, shown)


def lost_spans(thing: Text) -> Any:
    """Spans on a text that have no place in its words."""
    spans = NuggetSpan.objects.filter(rating__text=thing, start=None)
    return spans.select_related("rating__rater", "rating__question", "rating__rubric")


def _campaigns(thing: Worded) -> Any:
    """Those that show it, or will."""
    is_text = isinstance(thing, Text)
    items = Item.objects.filter(**{"text" if is_text else "asked__question": thing})
    return Campaign.objects.filter(pk__in=items.values("campaign"))


def _told(thing: Worded, version: Version) -> str:
    name = thing.name if isinstance(thing, Text) else f"{thing.topic}, question {thing.number}"
    return f"{name}, version {version.number}{': ' + version.why if version.why else ''}"[:LONGEST]
