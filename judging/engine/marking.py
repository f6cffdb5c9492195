"""The words that a judge quotes, as spans of its ratings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from annotation.models import NuggetSpan, Rating
from annotation.text.spans import locate
from judging.grading.pairs import Reply, State, storable
from judging.models import Attempt, Batch, Judge

Copies = list[tuple[int, int]]  # (key of the attempt to copy, key of the text of the same words)
_PAIR = ("text_id", "question_id")
HoldsFor = Sequence[tuple[Reply, Sequence[int]]]  # replies with the texts that each is about


def mark(judge: Judge, batch: Batch, holds_for: HoldsFor) -> None:
    """Store the quoted words of graded replies as spans, once they are found in the text.

    Words that the text does not hold are kept without a place: a judge that makes up its evidence
    should be seen to do so. Ratings that were there before this batch keep the spans that they have.
    """
    quoted = {
        (text, reply.pair.question_id): reply
        for reply, texts in holds_for
        if reply.evidence
        for text in texts
    }
    if not quoted:
        return
    spans = []
    for rating in _new_ratings(judge, batch):
        if reply := quoted.get((rating.text_id, rating.question_id)):
            spans += [_span(rating, at, quote, reply) for at, quote in enumerate(reply.evidence)]
    NuggetSpan.objects.bulk_create(spans, ignore_conflicts=True)


def copy_marks(judge: Judge, batch: Batch, copies: Copies) -> None:
    """Store the spans of the attempts that were copied on the ratings of the copies."""
    sources = Attempt.objects.filter(pk__in={pk for pk, _ in copies})
    pairs = {pk: (text, question) for pk, text, question in sources.values_list("pk", *_PAIR)}
    marked = NuggetSpan.objects.filter(
        rating__rater=judge.rater,
        rating__rubric=judge.rubric,
        rating__text_id__in={text for text, _ in pairs.values()},
    ).select_related("rating")
    spans_of = defaultdict[tuple[int, int], list[NuggetSpan]](list)
    for span in marked:
        spans_of[span.rating.text_id, span.rating.question_id].append(span)
    if not spans_of:
        return
    source_of = {(text, pairs[pk][1]): pairs[pk] for pk, text in copies}
    spans = []
    for rating in _new_ratings(judge, batch):
        source = source_of[rating.text_id, rating.question_id]
        spans += [_as_new(span, rating) for span in spans_of.get(source, ())]
    NuggetSpan.objects.bulk_create(spans, ignore_conflicts=True)


def _new_ratings(judge: Judge, batch: Batch) -> list[Rating]:
    """The ratings of the attempts that are new in a batch."""
    new = set(batch.attempts.filter(state=State.GRADED).values_list(*_PAIR).order_by())
    ratings = Rating.objects.filter(
        rater=judge.rater, rubric=judge.rubric, text_id__in={text for text, _ in new}
    )
    return [rating for rating in ratings if (rating.text_id, rating.question_id) in new]


def _span(rating: Rating, position: int, quote: str, reply: Reply) -> NuggetSpan:
    quote = storable(quote)
    span = NuggetSpan(rating=rating, position=position, source_quote=quote)
    if found := locate(reply.pair.text, quote):
        place, is_exact = found
        span.start, span.end, span.quote = place.start, place.end, place.quote
        span.source_quote = "" if is_exact else quote
        span.located = NuggetSpan.Located.EXACT if is_exact else NuggetSpan.Located.NORMALISED
    else:
        span.located = NuggetSpan.Located.UNLOCATED
    return span


def _as_new(span: NuggetSpan, rating: Rating) -> NuggetSpan:
    names = ("position", "start", "end", "quote", "source_quote", "located")
    return NuggetSpan(rating=rating, **{name: getattr(span, name) for name in names})
