"""Storage of replies: attempts exactly once, their ratings, and quoted spans."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, F, Q, Sum

from annotation.models import NuggetSpan, Rating, Text
from annotation.prepared import insert_new
from annotation.text.equal_texts import shifted_spans
from annotation.text.spans import locate
from judging.engine.charges import charge_run
from judging.engine.judge_test_pairs import attempts_by_pair
from judging.engine.pair_loader import omits_text
from judging.grading.pairs import Reply, State
from judging.grading.variants import JudgeTest
from judging.llm.completion import storable
from judging.llm.errors import Failure
from judging.models import Attempt, Batch, Judge, JudgeRun, JudgeTestReply, Shard

Duplicates = Mapping[tuple[int, int], Sequence[int]]  # other texts with the same prompt, by pair

_KEYS = ("judge_id", "text_id", "question_id", "batch_id")
_REPLY_FIELDS = (
    "state",
    "failure",
    "grade",
    "raw",
    "reasoning",
    "detail",
    "prompt_hash",
    "probabilities",
    "expected_grade",
    "label_mass",
)
_FLAGS = ("counts", "copied")
_TOKENS = ("prompt_tokens", "completion_tokens")
_COLUMNS = (*_KEYS, *_FLAGS, *_REPLY_FIELDS, *_TOKENS)
_TEST_COLUMNS = ("run_id", "batch_id", "attempt_id", "repeat", *_REPLY_FIELDS[:7])


@transaction.atomic
def store(
    run: JudgeRun,
    shard: Shard | None,
    worker: str,
    replies: Sequence[Reply],
    duplicates: Duplicates,
) -> Batch:
    """Store replies as attempts that count, with their ratings and evidence, as one batch.

    A pair that has an attempt already keeps it: another worker was first, and this reply changes
    nothing. In a run that asks failures again, the failed attempts stop counting first. Returns the
    batch with what was new in it.
    """
    judge = run.judge
    holds_for = [
        (
            reply,
            (reply.pair.text_id, *duplicates.get((reply.pair.text_id, reply.pair.question_id), ())),
        )
        for reply in replies
    ]
    batch = _batch(run, shard, worker, holds_for)
    judge_id, batch_id = judge.pk, batch.pk
    rows = [
        _row(judge_id, batch_id, reply, text, is_copy=text != texts[0])
        for reply, texts in holds_for
        for text in texts
    ]
    # In one order for everybody: two workers with the same pairs wait for each other, and never both.
    rows.sort(key=lambda row: row[1:3])
    if run.is_retry:
        _supersede_failed(run, {(text, question) for _, text, question, *_ in rows})
    if insert_new(Attempt, _COLUMNS, rows) < len(rows):
        _count(batch)
    _rate(judge, batch)
    _mark_copies(
        judge,
        batch,
        {
            (text, reply.pair.question_id): texts[0]
            for reply, texts in holds_for
            for text in texts[1:]
        },
    )
    mark(judge, batch, holds_for)
    return batch


@transaction.atomic
def store_test_replies(run: JudgeRun, shard: Shard, worker: str, replies: Sequence[Reply]) -> Batch:
    """Store the replies of a test as one batch, each with its original attempt.

    A reply that is there already stays, and a reply to a pair whose attempt does not count any more is
    dropped. Both are charged, as they were paid for. Returns the batch with what was new in it.
    """
    results = [_test_result(run, reply) for reply in replies]
    attempts = attempts_by_pair(run.judge, {reply.pair.text_id for reply in results})
    batch = _batch(run, shard, worker, [(reply, (reply.pair.text_id,)) for reply in results])
    rows = sorted(
        (
            _test_row(run, batch, attempts[pair], reply)
            for pair, reply in _by_pair(results)
            if pair in attempts
        ),
        key=lambda row: row[2:4],
    )
    if not rows or insert_new(JudgeTestReply, _TEST_COLUMNS, rows) < len(results):
        graded = Count("pk", filter=Q(state=State.GRADED))
        counts = batch.test_replies.aggregate(n=Count("pk"), n_graded=graded)
        batch.n_attempts, batch.n_graded = counts["n"], counts["n_graded"]
        Batch.objects.filter(pk=batch.pk).update(
            n_attempts=batch.n_attempts, n_graded=batch.n_graded
        )
    return batch


def _by_pair(replies: Sequence[Reply]) -> list[tuple[TextAndQuestion, Reply]]:
    return [((reply.pair.text_id, reply.pair.question_id), reply) for reply in replies]


def _test_result(run: JudgeRun, reply: Reply) -> Reply:
    """Return a reply as a test counts it: without the expected grade, which is not compared.

    A question that was asked alone, as the reply to all questions had no grade for it, has no order.
    """
    reply = replace(reply, expected_grade=None)
    lacks_order = run.test == JudgeTest.QUESTION_ORDER and not reply.pair.has_several_questions
    if not lacks_order or reply.state is not State.GRADED:
        return reply
    detail = "The reply to all questions had no grade for this one."
    return replace(
        reply, state=State.UNPARSEABLE, grade=None, failure=Failure.NO_GRADE, detail=detail
    )


def _test_row(run: JudgeRun, batch: Batch, attempt: int, reply: Reply) -> tuple[Any, ...]:
    """Return the values of a test's reply in the order of _TEST_COLUMNS."""
    stored = _row(run.judge_id, batch.pk, reply, reply.pair.text_id, is_copy=False)
    start = len(_KEYS) + len(_FLAGS)
    return (run.pk, batch.pk, attempt, reply.pair.repeat, *stored[start : start + 7])


@transaction.atomic
def store_copies(run: JudgeRun, worker: str, copies: Copies) -> None:
    """Copy the attempts at a text to other texts with the same prompt."""
    if not copies:
        return
    batch = Batch.objects.create(run=run, worker=worker)
    columns = ", ".join(_REPLY_FIELDS)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO judging_attempt ({', '.join(_COLUMNS)})"  # noqa: S608
            f" SELECT judge_id, %s, question_id, %s, true, true, {columns}, 0, 0"
            " FROM judging_attempt WHERE id = %s ON CONFLICT DO NOTHING",
            [(text, batch.pk, source) for source, text in copies],
        )
    _count(batch)
    _rate(run.judge, batch)
    sources = Attempt.objects.filter(pk__in={pk for pk, _ in copies})
    pairs = {pk: (text, question) for pk, text, question in sources.values_list("pk", *_PAIR)}
    _mark_copies(run.judge, batch, {(text, pairs[pk][1]): pairs[pk][0] for pk, text in copies})
    copy_marks(run.judge, batch, copies, pairs)


def _batch(
    run: JudgeRun,
    shard: Shard | None,
    worker: str,
    holds_for: Sequence[tuple[Reply, tuple[int, ...]]],
) -> Batch:
    """Create the batch of these replies, with its counts as if all of them are new."""
    graded = [(reply, len(texts)) for reply, texts in holds_for if reply.state is State.GRADED]
    drifts = [
        ((reply.expected_grade - reply.grade) * n, n)
        for reply, n in graded
        if reply.expected_grade is not None and reply.grade is not None
    ]
    prompt_tokens = sum(reply.prompt_tokens for reply, _ in holds_for)
    completion_tokens = sum(reply.completion_tokens for reply, _ in holds_for)
    charge_run(run, prompt_tokens, completion_tokens)
    return Batch.objects.create(
        run=run,
        shard=shard,
        worker=worker,
        n_sent=len(holds_for),
        n_attempts=sum(len(texts) for _, texts in holds_for),
        n_graded=sum(n for _, n in graded),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        n_expected=sum(n for _, n in drifts),
        sum_drift=sum(drift for drift, _ in drifts),
    )


def _row(
    judge_id: int, batch_id: int, reply: Reply, text: int, *, is_copy: bool
) -> tuple[Any, ...]:
    """Return an attempt's values in the order of _COLUMNS."""
    return (
        judge_id,
        text,
        reply.pair.question_id,
        batch_id,
        True,
        is_copy,
        reply.state.value,
        reply.failure.value if reply.failure else "",
        reply.grade,
        storable(reply.raw),
        storable(reply.reasoning),
        storable(reply.detail)[:500],
        reply.prompt_hash,
        None if reply.probabilities is None else json.dumps(reply.probabilities),
        reply.expected_grade,
        reply.label_mass,
        0 if is_copy else reply.prompt_tokens,
        0 if is_copy else reply.completion_tokens,
    )


def _supersede_failed(run: JudgeRun, pairs: set[tuple[int, int]]) -> None:
    failed = (
        Attempt.objects.filter(judge=run.judge, counts=True)
        .filter(text_id__in={text for text, _ in pairs})
        .exclude(state=State.GRADED)
        .exclude(batch__run=run)
        .order_by("pk")
    )
    if connection.features.has_select_for_update:
        failed = failed.select_for_update(of=("self",))
    rows = failed.values_list("pk", "text_id", "question_id")
    old = [pk for pk, text, question in rows if (text, question) in pairs]
    if _counts_failures(run.judge):
        for text, question in pairs & {(text, question) for _, text, question in rows}:
            Rating.objects.record(
                rater=run.judge.rater_id,
                rubric=run.judge.rubric_id,
                text=text,
                question=question,
                grade=None,
            )
    Attempt.objects.filter(pk__in=old).update(counts=False)


def _counts_failures(judge: Judge) -> bool:
    return judge.failure_policy == Judge.FailurePolicy.ZERO


def _rate(judge: Judge, batch: Batch) -> None:
    """Store the new graded attempts of a batch as ratings.

    Where the judge's policy is to count a reply without a grade as 0, such replies too: the attempts
    stay what they are, and are counted as failures. An error is no reply, and never a 0.
    """
    rated = "state <> 'error'" if _counts_failures(judge) else "state = 'graded'"
    graded = (
        "SELECT text_id, question_id, COALESCE(grade, 0) FROM judging_attempt"  # noqa: S608
        f" WHERE batch_id = %s AND {rated} ORDER BY text_id, question_id"
    )
    Rating.objects.add_from(judge.rater_id, judge.rubric_id, graded, [batch.pk])


def _mark_copies(judge: Judge, batch: Batch, read_texts: Mapping[TextAndQuestion, int]) -> None:
    """Mark the new ratings of copied replies with the text that the judge read.

    `read_texts`: the key of that text for each copied pair. It may be a copy itself, of a text that was
    read before. A prompt without the text reads none, and its ratings are no copies of equal words.
    """
    if not read_texts or omits_text(judge.spec):
        return
    new = set(batch.attempts.filter(copied=True).values_list(*_PAIR).order_by())
    ratings = Rating.objects.filter(rater=judge.rater, rubric=judge.rubric)
    marked = ratings.filter(text_id__in=set(read_texts.values()), copied_from__isnull=False)
    first_read = {
        (text, question): source
        for text, question, source in marked.values_list(*_PAIR, "copied_from_id")
    }
    copies = []
    for rating in ratings.filter(text_id__in={text for text, _ in new}):
        pair = (rating.text_id, rating.question_id)
        if pair in new and (read_text := read_texts.get(pair)):
            rating.copied_from_id = first_read.get((read_text, rating.question_id), read_text)
            copies.append(rating)
    Rating.objects.mark_copies(copies)


def _count(batch: Batch) -> None:
    """Recount a batch of which not all attempts were new."""
    graded = Q(state=State.GRADED)
    counts = batch.attempts.aggregate(
        n=Count("pk"),
        n_graded=Count("pk", filter=graded),
        n_expected=Count("expected_grade", filter=graded),
        drift=Sum(F("expected_grade") - F("grade"), filter=graded),
    )
    batch.n_attempts = counts["n"]
    batch.n_graded = counts["n_graded"]
    batch.n_expected = counts["n_expected"]
    batch.sum_drift = counts["drift"] or 0.0
    batch.save(update_fields=["n_attempts", "n_graded", "n_expected", "sum_drift"])


Copies = list[tuple[int, int]]  # (key of the attempt to copy, key of the text asked alike)
TextAndQuestion = tuple[int, int]  # their keys
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
    bodies = {reply.pair.text_id: reply.pair.text for reply in quoted.values()}
    bodies |= _bodies({text for text, _ in quoted if text not in bodies})
    spans = []
    for rating in _new_ratings(judge, batch):
        if reply := quoted.get((rating.text_id, rating.question_id)):
            spans += [
                _span(rating, position, quote, bodies[rating.text_id])
                for position, quote in enumerate(reply.evidence)
            ]
    NuggetSpan.objects.bulk_create(spans, ignore_conflicts=True)


def copy_marks(
    judge: Judge, batch: Batch, copies: Copies, pairs: Mapping[int, TextAndQuestion]
) -> None:
    """Store the spans of the attempts that were copied on the ratings of the copies.

    `pairs`: the keys of text and question of the attempts.
    """
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
    bodies = _bodies({text for pair in source_of.items() for text, _ in pair})
    spans = []
    for rating in _new_ratings(judge, batch):
        source = source_of[rating.text_id, rating.question_id]
        fields = [
            {name: getattr(span, name) for name in ("position", *NuggetSpan.POSITION)}
            for span in spans_of.get(source, ())
        ]
        shifted = shifted_spans(fields, bodies[source[0]], bodies[rating.text_id])
        spans += [NuggetSpan(rating=rating, **span) for span in shifted]
    NuggetSpan.objects.bulk_create(spans, ignore_conflicts=True)


def _bodies(texts: Collection[int]) -> dict[int, str]:
    if not texts:
        return {}
    bodies = Text.objects.filter(pk__in=texts).order_by().values_list("pk", "body")
    return {pk: body or "" for pk, body in bodies}


def _new_ratings(judge: Judge, batch: Batch) -> list[Rating]:
    """Return the ratings of the new attempts of a batch."""
    new = set(batch.attempts.filter(state=State.GRADED).values_list(*_PAIR).order_by())
    ratings = Rating.objects.filter(
        rater=judge.rater, rubric=judge.rubric, text_id__in={text for text, _ in new}
    )
    return [rating for rating in ratings if (rating.text_id, rating.question_id) in new]


def _span(rating: Rating, position: int, quote: str, body: str) -> NuggetSpan:
    quote = storable(quote)
    span = NuggetSpan(rating=rating, position=position, source_quote=quote)
    if match := locate(body, quote):
        location, is_exact = match
        span.start, span.end, span.quote = location.start, location.end, location.quote
        span.source_quote = "" if is_exact else quote
        span.located = NuggetSpan.Located.EXACT if is_exact else NuggetSpan.Located.NORMALISED
    else:
        span.located = NuggetSpan.Located.UNLOCATED
    return span
