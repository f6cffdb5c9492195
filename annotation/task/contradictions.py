"""Contradictions of an item: answers to a question that rubrics declare impossible.

Both answers are stored and count. The person is asked to check them, and cannot submit the item
until one has another grade, or until a note on one of them says why both are right.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, permutations

from django.utils.translation import gettext as _

from annotation.models import Answer, Rubric
from annotation.models.rubric import impossible_pairs
from annotation.task.cards import QuestionCard


def declare_impossible(cards: Sequence[QuestionCard], rubrics: Sequence[Rubric]) -> None:
    """Set `impossible` of each card: grades of other cards that exclude each of its grades."""
    declared = impossible_pairs(rubrics)
    for card, other_card in _pairs_of_cards(cards) if declared else ():
        for (rubric, grade), (other_rubric, other_grade) in sorted(declared):
            if (rubric, other_rubric) == (card.rubric.pk, other_card.rubric.pk):
                excluded = card.impossible.setdefault(grade, {})
                excluded.setdefault(other_card.number, []).append(other_grade)


def find_contradictions(cards: Sequence[QuestionCard], answers: Sequence[Answer]) -> None:
    """Set `contradicts` and `explained_cards` of each card from all answers, oldest first."""
    for card, other_card in _pairs_of_cards(cards):
        if other_card.grade not in card.excludes(other_card):
            continue
        explaining = _explaining_keys(card, other_card, answers)
        if card.answer_key in explaining:
            card.explained_cards.append(other_card)
        elif not explaining:
            card.contradicts.append(other_card)


def _pairs_of_cards(
    cards: Sequence[QuestionCard],
) -> Iterator[tuple[QuestionCard, QuestionCard]]:
    """Yield each two cards of a question, in both orders."""
    for _question, of_question in groupby(cards, key=lambda card: card.answer_key[:2]):
        yield from permutations(of_question, 2)


def _explaining_keys(
    card: QuestionCard, other_card: QuestionCard, answers: Sequence[Answer]
) -> set[tuple[int | None, ...]]:
    """Return which of two cards have a note that was written since both grades stand.

    An older note is about one answer alone.
    """
    both = {card.answer_key: card.grade, other_card.answer_key: other_card.grade}
    grades: dict[tuple[int | None, ...], int | None] = {}
    notes: dict[tuple[int | None, ...], str] = {}
    changed: set[tuple[int | None, ...]] = set()
    for answer in answers:
        key = (answer.question_id, answer.check_asked_id, answer.rubric_id)
        if key not in both:
            continue
        if grades != both or answer.grade != both[key]:
            changed.clear()
        elif answer.note != notes[key]:
            changed.add(key)
        grades[key], notes[key] = answer.grade, answer.note
    return {key for key in changed if notes[key].strip()}


def contradiction_text(
    card: QuestionCard, other_card: QuestionCard, labels: Mapping[int, Mapping[int, str]]
) -> str:
    """Return what the person reads about two answers; `labels` by the rubric's key, by grade."""
    first, second = (labels[one.rubric.pk].get(one.grade or 0, "") for one in (card, other_card))
    return _(
        "You chose “%(first)s” and “%(second)s”. They cannot both be right. Check both answers."
    ) % {"first": first, "second": second}


def contradiction_texts(
    cards: Sequence[QuestionCard], labels: Mapping[int, Mapping[int, str]]
) -> list[str]:
    """Return the text of each two answers of an item that contradict each other."""
    return [
        f"{card.number}, {other_card.number}: {contradiction_text(card, other_card, labels)}"
        for card in cards
        for other_card in card.contradicts
        if card.number < other_card.number
    ]
