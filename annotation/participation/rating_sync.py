"""Sync Answer rows to ratings: the newest answer of an open or submitted item counts.

Answers are never changed or deleted; their `late` gives the reason for which they do not count. Where
an item has equal texts, the rating of its text is copied to each. A grade that a person gave to such a
text itself goes first.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.functions import Coalesce

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    EqualText,
    Item,
    ItemQuestion,
    Rating,
    SubQuestion,
    Text,
)
from annotation.prepared import Prepared
from annotation.text.equal_texts import shifted_spans
from annotation.text.reanchoring import TextOrQuestion, current_spans, lock_wordings, matches_answer
from annotation.text.versions import copied_spans_in_current_wording, spans_in_current_wording

Pair = tuple[int, int, int, int]  # keys of rater, rubric, text and question

_TEXT = "assignment__item__text_id"
_EQUAL_TEXT = "assignment__item__equal_texts__text_id"
_EQUAL_TEXTS = Prepared(
    lambda item: EqualText.objects.filter(item=item).order_by("text_id").values_list("text_id"), 1
)


def _locked(model: type[Model], pk: int) -> QuerySet[Any, Any]:
    rows = model._base_manager.select_for_update(no_key=True)
    return rows.filter(pk=pk).values_list("pk")


_LOCKED_TEXT = Prepared(lambda pk: _locked(Text, pk), 1)
_LOCKED_QUESTION = Prepared(lambda pk: _locked(SubQuestion, pk), 1)


class CountedAnswer(NamedTuple):
    """An answer that counts for a pair: of the item's text, or copied to an equal text."""

    answer: Answer
    equal: EqualText | None = None

    @property
    def is_copy(self) -> bool:
        return self.equal is not None


def lock_texts(answer: Answer, campaign: Campaign) -> bool:
    """Lock the texts and the question that a new answer rates; return whether it did.

    In a transaction. An edit of their wording moves the spans of this answer if it waits for it.
    SQLite has one writer at a time, so nothing is locked.
    """
    question = _rated_question(answer, campaign)
    if question is None or not connection.features.has_select_for_update:
        return False
    assignment = answer.assignment
    text, copies = assignment.item.text_id, _equal_texts(answer, campaign)
    if assignment.slot is None and assignment.needs_slot:
        # If it takes a slot again, all its answers count: their questions are locked in one order.
        questions = ItemQuestion.objects.filter(item=assignment.item_id).values_list(
            "question", flat=True
        )
        lock_wordings({text, *copies}, {question, *questions})
    elif copies:
        lock_wordings({text, *copies}, {question})
    else:
        _LOCKED_TEXT.all(text)
        _LOCKED_QUESTION.all(question)
    return True


def _rated_question(answer: Answer, campaign: Campaign) -> int | None:
    """Return the key of the question that an answer rates.

    None in a pilot, for training, and for a repeat.
    """
    assignment = answer.assignment
    is_unrated = assignment.repeats_id or assignment.item.purpose == Item.Purpose.TRAINING
    return None if campaign.is_pilot or is_unrated else answer.question_id


def _equal_texts(answer: Answer, campaign: Campaign) -> list[int]:
    """Return the keys of the texts that an answer is copied to, ascending."""
    if not campaign.copies_equal_texts:
        return []
    return [text for (text,) in _EQUAL_TEXTS.all(answer.assignment.item_id)]


def rate_answer(answer: Answer, campaign: Campaign) -> None:
    """Record a new answer as the rating of its pair, if it becomes one.

    In a transaction, after `lock_texts`.
    """
    question = _rated_question(answer, campaign)
    if question is None:
        return
    rater, rubric = answer.assignment.participant.rater_id, answer.rubric_id or campaign.rubric_id
    Rating.objects.record(
        rater=rater,
        rubric=rubric,
        text=answer.assignment.item.text_id,
        question=question,
        grade=answer.grade,
        spans=answer.spans,
        exposure=answer.exposure,
    )
    if texts := _equal_texts(answer, campaign):
        _copy_rating(answer, {(rater, rubric, text, question) for text in texts})


def _copy_rating(answer: Answer, pairs: set[Pair]) -> None:
    """Copy the rating of a new answer to these pairs of equal texts."""
    for pair, counted in _newest_of(pairs).items():
        if counted.answer == answer:
            _record(pair, counted)


def _anchored_spans(counted: CountedAnswer) -> list[dict[str, Any]] | None:
    """Return the spans of an answer re-anchored to the present text; None if superseded.

    Grades of the text that it is to may be superseded in an open campaign, too: the text was
    another one while the campaign was closed, and is back.
    """
    answer, equal = counted
    item_questions = ItemQuestion.objects.select_related("item__text", "question")
    item_question = item_questions.get(item=answer.assignment.item, question=answer.question_id)
    if equal:
        spans = copied_spans_in_current_wording(item_question, equal, answer.spans, answer.created)
        rated_spans = (answer.rated_spans or {}).get("copies", {}).get(str(equal.text_id))
    else:
        spans = spans_in_current_wording(item_question, answer.spans, answer.created)
        rated_spans = answer.rated_spans if "spans" in (answer.rated_spans or {}) else None
    if spans is None or rated_spans is None:
        return spans
    text = equal.text if equal else item_question.item.text
    return current_spans(text, rated_spans["spans"], rated_spans["text_sha256"])


def restore_answers(assignment: Assignment, because: Answer.Late | None = None) -> None:
    """Let the newest answers count again. In a transaction.

    With `because` only the answers that this reason excluded. A later answer of the same rater to the same
    pair in another study stays their rating.
    """
    answers = Answer.objects.filter(assignment=assignment)
    if because:
        answers = answers.filter(late=because)
    elif not answers.exclude(late=Answer.Late.NO).exists():
        return
    newest = {
        (answer.question_id, answer.check_asked_id, answer.rubric_id): answer
        for answer in answers.order_by("id")
    }
    late = Answer.objects.filter(pk__in=[answer.pk for answer in newest.values() if answer.late])
    _set_late(late, Answer.Late.NO)


def exclude_answers(assignments: Iterable[int], reason: Answer.Late = Answer.Late.RETURNED) -> None:
    """Exclude all answers to these items, as others may take their slots. In a transaction.

    An answer of the same rater to the same pair in another study counts again.
    """
    _set_late(Answer.objects.filter(assignment__in=assignments, late=Answer.Late.NO), reason)


def _set_late(answers: QuerySet[Answer], late: Answer.Late) -> None:
    """Set `late` of answers, and recompute the ratings of their pairs from the newest ones.

    A rating whose newest answer is the same as before is unchanged: a person may have placed its spans.
    """
    rated = _for_ratings(answers).filter(question__isnull=False)
    pairs = {*_pairs(rated), *_copy_pairs(rated)}
    lock_wordings({pair[2] for pair in pairs}, {pair[3] for pair in pairs})
    newest_before = _newest_of(pairs)
    answers.update(late=late)
    newest_after = _newest_of(pairs)
    for pair in pairs:
        old, new = newest_before.get(pair), newest_after.get(pair)
        if old == new:
            continue
        if old:
            _store_rated_spans(pair, old)
        if old and (new is None or new.is_copy != old.is_copy):
            _remove(pair, is_copy=old.is_copy)
        if new:
            _record(pair, new)


def _newest_of(pairs: set[Pair]) -> dict[Pair, CountedAnswer]:
    """Return the newest answer that counts of each of these pairs, over all studies.

    An answer to the text itself goes before one to a text of equal words.
    """
    if not pairs:
        return {}
    texts = {pair[2] for pair in pairs}
    answers = Answer.objects.filter(
        assignment__participant__rater__in={pair[0] for pair in pairs},
        question__in={pair[3] for pair in pairs},
    )
    newest: dict[Pair, CountedAnswer] = {}
    equal_texts = defaultdict[int, list[EqualText]](list)
    for equal in EqualText.objects.filter(text__in=texts).select_related("text"):
        equal_texts[equal.item_id].append(equal)
    if equal_texts:
        for answer in _counted(answers.filter(assignment__item__in=equal_texts)):
            for equal in equal_texts[answer.assignment.item_id]:
                newest[_pair(answer, equal.text_id)] = CountedAnswer(answer, equal)
    for answer in _counted(answers.filter(assignment__item__text__in=texts)):
        newest[_pair(answer, answer.assignment.item.text_id)] = CountedAnswer(answer)
    return {pair: counted for pair, counted in newest.items() if pair in pairs}


def _store_rated_spans(pair: Pair, counted: CountedAnswer) -> None:
    """Store with an answer the spans that its rating has on an edited text.

    Recomputed from the answer, the rating would lose a position that a person gave to a span by hand.
    """
    rating = _rating(pair)
    if rating is None or not _is_of(rating, counted) or not rating.text.versions.exists():
        return
    spans = [span.position_fields() for span in rating.spans.all()]
    placed: dict[str, Any] = {"spans": spans, "text_sha256": rating.text.sha256}
    answers = Answer.objects.filter(pk=counted.answer.pk)
    stored = answers.values_list("rated_spans", flat=True).get() or {}
    if counted.equal:
        copies = stored.get("copies", {}) | {str(counted.equal.text_id): placed}
        placed = {"copies": copies}
    answers.update(rated_spans=stored | placed)


def recompute_ratings(edited: TextOrQuestion) -> None:
    """Recompute the ratings of a text, or under a question, from people's answers.

    In a transaction. For after another choice about grades of an earlier text: meanwhile, staff may
    have included or excluded somebody's answers, and people may have undone some. A rating that is
    right already is unchanged. Ratings that were copied from the text to others are theirs.
    """
    rated = _for_ratings(Answer.objects.filter(question__isnull=False))
    if isinstance(edited, Text):
        direct = set(_pairs(rated.filter(assignment__item__text=edited)))
        copied = set(_copy_pairs(rated.filter(assignment__item__equal_texts__text=edited)))
    else:
        rated = rated.filter(question=edited)
        direct, copied = set(_pairs(rated)), set(_copy_pairs(rated))
    newest = _newest_of(direct | copied)
    for pair in direct | copied:
        counted = newest.get(pair)
        if counted is None:
            _remove(pair, is_copy=pair not in direct)
        elif not (_is_of(_rating(pair), counted) and _anchored_spans(counted) is not None):
            _record(pair, counted)


def _record(pair: Pair, counted: CountedAnswer) -> None:
    """Set the rating of a pair to an answer that counts."""
    spans, answer = _anchored_spans(counted), counted.answer
    rater, rubric, text, question = pair
    Rating.objects.record(
        rater=rater,
        rubric=rubric,
        text=text,
        question=question,
        grade=answer.grade if spans is not None else None,
        spans=spans or (),
        rated_at=answer.created,
        copied_from=answer.assignment.item.text_id if counted.is_copy else None,
        exposure=answer.exposure,
    )


def _remove(pair: Pair, *, is_copy: bool) -> None:
    rater, rubric, text, question = pair
    if is_copy:
        Rating.objects.remove_copy(rater=rater, rubric=rubric, text=text, question=question)
    else:
        Rating.objects.record(rater=rater, rubric=rubric, text=text, question=question, grade=None)


def _counted(answers: QuerySet[Answer]) -> QuerySet[Answer]:
    """Return the answers that count, oldest first, with what their pairs are made of."""
    counted = _for_ratings(answers).filter(late=Answer.Late.NO).order_by("id")
    return counted.select_related("assignment__item__text", "assignment__participant__campaign")


def _for_ratings(answers: QuerySet[Answer]) -> QuerySet[Answer]:
    """Filter answers to those that can become ratings: none of pilots, training and repeats."""
    return answers.filter(
        assignment__participant__campaign__is_pilot=False, assignment__repeats=None
    ).exclude(assignment__item__purpose=Item.Purpose.TRAINING)


def _is_of(rating: Rating | None, counted: CountedAnswer) -> bool:
    """Return whether a rating has the grade, the quotes and the exposure of an answer."""
    answer, equal = counted
    if rating is None or (rating.copied_from_id is not None) != counted.is_copy:
        return False
    if rating.exposure != answer.exposure:
        return False
    spans = answer.spans
    if equal:
        read = answer.assignment.item.as_shown().body or ""
        spans = shifted_spans(spans, read, equal.campaign_text().body or "")
    return matches_answer(rating, answer.grade, spans)


def _rating(pair: Pair) -> Rating | None:
    rater, rubric, text, question = pair
    return Rating.objects.filter(rater=rater, rubric=rubric, text=text, question=question).first()


def _pair(answer: Answer, text: int) -> Pair:
    participant = answer.assignment.participant
    rubric = answer.rubric_id or participant.campaign.rubric_id
    assert answer.question_id
    return (participant.rater_id, rubric, text, answer.question_id)


def _pairs(answers: QuerySet[Answer], text: str = _TEXT) -> list[Pair]:
    """Return the pairs that answers are about, or with the path of another text those of that."""
    return list(
        answers.values_list(
            "assignment__participant__rater_id",
            Coalesce("rubric_id", "assignment__participant__campaign__rubric_id"),
            text,
            "question_id",
        )
    )


def _copy_pairs(answers: QuerySet[Answer]) -> list[Pair]:
    """Return the pairs of equal texts that answers are copied to."""
    return _pairs(answers.filter(assignment__item__equal_texts__isnull=False), _EQUAL_TEXT)
