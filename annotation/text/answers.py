"""Answers to questions as spans of a text, for rubrics that show the answer of a pair."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.models import NuggetSpan, Rating
from annotation.models.standard import ANSWERED

Answers = dict[tuple[int, int], list[str]]  # by text and question: the words of the answer

LOT = 1_000  # texts in one query: databases bound how many values one may name


def answers_in(texts: Sequence[int], preferred: int | None = None) -> Answers:
    """Return the answer of each pair of these texts, under the rubric `answered`.

    That of the rater `preferred`, if any; else of the first rater by name who gave one.
    """
    answers: Answers = {}
    for start in range(0, len(texts), LOT):
        answers |= _of_lot(texts[start : start + LOT], preferred)
    return answers


def _of_lot(texts: Sequence[int], preferred: int | None) -> Answers:
    spans = NuggetSpan.objects.filter(rating__rubric__slug=ANSWERED.slug, rating__text__in=texts)
    by_rating: dict[int, list[str]] = defaultdict(list)
    for rating, quote, source in spans.order_by("rating", "position").values_list(
        "rating_id", "quote", "source_quote"
    ):
        by_rating[rating].append(quote or source)
    answers: Answers = {}
    rated = Rating.objects.filter(rubric__slug=ANSWERED.slug, text__in=texts)
    for pk, rater, text, question in rated.order_by("rater__name", "rater").values_list(
        "pk", "rater_id", "text_id", "question_id"
    ):
        if pk in by_rating and ((text, question) not in answers or rater == preferred):
            answers[text, question] = by_rating[pk]
    return answers
