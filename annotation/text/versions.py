"""New words for a text or a question that is there: what they would do, and the doing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.models import (
    Campaign,
    Citation,
    Item,
    ItemQuestion,
    NuggetSpan,
    ProjectEntry,
    Rating,
    SubQuestion,
    Text,
    User,
    Version,
)
from annotation.text.anchors import anchored

Worded = Text | SubQuestion
Span = dict[str, Any]  # the fields of a span of a rating
PLACED = "is_placed"  # of a rating set aside: its spans stand in the words after its version
LONGEST = 200  # of what an entry of the log tells


class RewordingRefused(Exception):
    """The words cannot change; the message says why."""


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
    spans = list(_spans(thing))
    citations = list(thing.citations.all())
    old = thing.body or ""
    return Outlook(
        campaigns=campaigns,
        n_ratings=n_ratings,
        n_spans=len(spans),
        lost=tuple(span.quote for span in spans if _place(thing, body, span) is None),
        n_citations=len(citations),
        lost_citations=tuple(
            old[mark.start : mark.end] for mark in citations if _place(thing, body, mark) is None
        ),
    )


@transaction.atomic
def reword(thing: Worded, body: str, *, by: User | None, why: str, counts: bool) -> Version:
    """Give a text or a question new words; the old ones become a version.

    Grades that were given to it count on with `counts`, and their spans move with their words: what is not
    found for sure loses its place and is listed. Else they are set aside with the version. Campaigns that
    are closed keep what they have shown beside their items. Raises RewordingRefused as `check`.
    """
    list(_campaigns(thing).select_for_update())  # or one of them could open meanwhile
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
    if not counts:
        version.set_aside = ratings_of(thing).set_aside()
    if isinstance(thing, Text):
        version.citations = _move_citations(thing, body)
        _move_spans(thing, body)
        thing.start = thing.end = None  # in its document other words stand there
    else:
        thing.source_body = ""  # which are the old words, with their white space
    _keep_shown(thing, body)
    thing.body = body
    thing.save()
    version.save()
    ProjectEntry.record(dataset.project, by, "changed words", _told(thing, version), dataset)
    return version


@transaction.atomic
def choose(version: Version, *, counts: bool, by: User | None) -> None:
    """Let the grades that were given to a thing's last words before these count, or count no more."""
    thing = version.text or version.question
    assert thing is not None
    if counts:
        moved = [_at_new_words(row, version, thing) for row in version.set_aside]
        version.set_aside = Rating.objects.put_back(moved)
    else:
        rated = ratings_of(thing).filter(created__lte=version.replaced).set_aside()
        version.set_aside += [{**row, PLACED: True} for row in rated]
    version.counts = counts
    version.save(update_fields=["counts", "set_aside"])
    what = "grades of earlier words count" if counts else "set grades of earlier words aside"
    dataset = version.dataset
    ProjectEntry.record(dataset.project, by, what, _told(thing, version), dataset)


def place_by_words(span: NuggetSpan, words: str) -> None:
    """Give a span that has no place the place of words that a person found for it.

    Raises RewordingRefused where they do not stand in the text exactly once.
    """
    body = span.rating.text.body or ""
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


def had_before(thing: Worded, body: str) -> bool:
    """Whether it had exactly these words before, and grades that were given to them count."""
    for words, counts in thing.versions.order_by("-number").values_list("body", "counts"):
        if not counts:
            return False
        if words == body:
            return True
    return False


def as_now(asked: ItemQuestion, spans: Sequence[Span]) -> list[Span] | None:
    """What somebody marked in words that a campaign showed, where it stands in the words of now.

    None where grades of the words that were shown are set aside.
    """
    item, text = asked.item, asked.item.text
    if asked.shown_body is not None and not had_before(asked.question, asked.shown_body):
        return None
    if item.shown_body is None:
        return list(spans)
    if not had_before(text, item.shown_body):
        return None
    return [_carried(NuggetSpan(**span), item.shown_body, text.body or "") for span in spans]


def lost_spans(thing: Text) -> Any:
    """Spans on a text that have no place in its words."""
    spans = NuggetSpan.objects.filter(rating__text=thing, start=None)
    return spans.select_related("rating__rater", "rating__question", "rating__rubric")


def ratings_of(thing: Worded) -> Any:
    """All ratings of a text, or under a question."""
    return Rating.objects.filter(**{"text" if isinstance(thing, Text) else "question": thing})


def _campaigns(thing: Worded) -> Any:
    """Those that show it, or will."""
    is_text = isinstance(thing, Text)
    items = Item.objects.filter(**{"text" if is_text else "asked__question": thing})
    return Campaign.objects.filter(pk__in=items.values("campaign"))


def _keep_shown(thing: Worded, body: str) -> None:
    """Beside the items of campaigns that were open, before the words become others."""
    rows: Any = thing.items if isinstance(thing, Text) else thing.asked_in
    campaign = "campaign" if isinstance(thing, Text) else "item__campaign"
    shown = rows.exclude(**{f"{campaign}__state": Campaign.State.DRAFT})
    shown.filter(shown_body=None).update(shown_body=thing.body)
    shown.filter(shown_body=body).update(shown_body=None)


def _spans(text: Text) -> Iterator[NuggetSpan]:
    yield from NuggetSpan.objects.filter(rating__text=text, start__isnull=False).order_by("pk")


def _place(text: Text, body: str, marked: NuggetSpan | Citation) -> tuple[int, int] | None:
    if marked.start is None or marked.end is None:
        return None
    return anchored(text.body or "", body, marked.start, marked.end)


def _move_spans(text: Text, body: str) -> None:
    for span in _spans(text):
        place = _place(text, body, span)
        _put(span, place)
        span.save(update_fields=["start", "end", "quote", "source_quote", "located"])


def _put(span: NuggetSpan, place: tuple[int, int] | None) -> None:
    """At its place in the new words; without one it keeps the words that it marked."""
    if place:
        span.start, span.end = place
        return
    span.start = span.end = None
    span.source_quote, span.quote = span.source_quote or span.quote, ""
    span.located = NuggetSpan.Located.UNLOCATED


def _at_new_words(row: Mapping[str, Any], version: Version, thing: Worded) -> dict[str, Any]:
    """A rating that was set aside, its spans where they stand in the words of now."""
    if row.get(PLACED):
        return dict(row)
    # A question's new words move no spans.
    body = thing.body or "" if isinstance(thing, Text) else version.body
    spans = [_carried(NuggetSpan(**span), version.body, body) for span in row["spans"]]
    return {**row, PLACED: True, "spans": spans}


def _carried(span: NuggetSpan, old: str, new: str) -> Span:
    """The fields of a span of old words, where it stands in new ones."""
    if span.start is not None and span.end is not None and old != new:
        _put(span, anchored(old, new, span.start, span.end))
    fields = ("start", "end", "quote", "source_quote", "located")
    return {name: getattr(span, name) for name in fields}


def _move_citations(text: Text, body: str) -> list[dict[str, Any]]:
    """Move the marks of a report with their statements. Those whose statement is gone go, and are returned."""
    gone = []
    for mark in text.citations.all():
        place = _place(text, body, mark)
        if place:
            mark.start, mark.end = place
            mark.save(update_fields=["start", "end"])
        else:
            fields = ("position", "start", "end", "label", "cited_id")
            gone.append({name: getattr(mark, name) for name in fields})
            mark.delete()
    return gone


def _told(thing: Worded, version: Version) -> str:
    name = thing.name if isinstance(thing, Text) else f"{thing.topic}, question {thing.number}"
    return f"{name}, version {version.number}{': ' + version.why if version.why else ''}"[:LONGEST]
