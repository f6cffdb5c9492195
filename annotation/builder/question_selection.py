"""Questions that a campaign can ask of a text: unfiltered, with the answers to display."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from annotation.builder.pair_set import questions_of_pairs
from annotation.models import Campaign, SubQuestion, Text
from annotation.text.answers import Answers, answers_in
from annotation.text.equal_texts import wording_key

QuestionsByText = dict[int, list[SubQuestion]]  # by text


@dataclass(frozen=True)
class QuestionSelection:
    """Questions that a campaign can ask of each text, with the answers displayed beside them."""

    questions: QuestionsByText
    answers: Answers
    unanswered: set[int]
    """Texts with questions, of which none has an answer to show."""


def is_asked_once_per_topic(campaign: Campaign) -> bool:
    """Return whether all texts of a topic ask the same.

    So it is where neither a text nor its answer is displayed.
    """
    return all(rubric.stands_for_topic for rubric in campaign.rubrics())


def can_copy_grades(campaign: Campaign) -> bool:
    """Return whether texts of equal words are one to raters.

    Not where the answer of a pair is displayed: each text has its own, as for a judge. Where no text is
    displayed either, one text stands for all of its topic anyway.
    """
    shows_answer = any(rubric.shows_answer for rubric in campaign.rubrics())
    return not shows_answer and not is_asked_once_per_topic(campaign)


def copies_grades(campaign: Campaign) -> bool:
    """Return whether one text of equal words is handed out, and its grades are copied."""
    return campaign.copies_equal_texts and can_copy_grades(campaign)


def drawing_unit(campaign: Campaign) -> Callable[[Text], Hashable]:
    """Return the function from a text to what is drawn once: its topic, its words, or itself."""
    if is_asked_once_per_topic(campaign):
        return lambda text: text.topic_id
    if copies_grades(campaign):
        return lambda text: (text.topic_id, wording_key(text.body or ""))
    return lambda text: text.pk


def select_questions(campaign: Campaign, texts: Sequence[Text]) -> QuestionSelection:
    """Return the questions that the campaign's rubrics can ask of some texts, together.

    Where one shows the answer of a pair, a pair without one is not asked. Where all show neither the
    question nor an answer, they ask about the text alone: one question stands for it, the first. Where
    pairs were chosen elsewhere, their texts are asked about these questions alone.
    """
    rubrics = campaign.rubrics()
    shows_answer = any(rubric.shows_answer for rubric in rubrics)
    shows_question = any(rubric.shows_question for rubric in rubrics)
    questions = _unfiltered(texts)
    keys = [text.pk for text in texts]
    answers = answers_in(keys, campaign.gold_source_id) if shows_answer else {}
    unanswered = set()
    for text, of_text in questions.items():
        if shows_answer:
            questions[text] = [question for question in of_text if (text, question.pk) in answers]
            unanswered |= {text} if of_text and not questions[text] else set()
        elif not shows_question:
            questions[text] = of_text[:1]
    for text, chosen in questions_of_pairs(campaign).items():
        if text in questions:
            questions[text] = [question for question in questions[text] if question.pk in chosen]
    return QuestionSelection(questions, answers, unanswered)


def _unfiltered(texts: Sequence[Text]) -> QuestionsByText:
    by_topic: dict[int, list[SubQuestion]] = defaultdict(list)
    for question in SubQuestion.objects.filter(
        topic__in={text.topic_id for text in texts}, filtered_because=""
    ):
        by_topic[question.topic_id].append(question)
    return {text.pk: by_topic[text.topic_id or 0] for text in texts}
