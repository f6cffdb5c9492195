"""Questions that can be asked of a text: unfiltered, and with all there that the rubric shows beside them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Campaign, SubQuestion, Text
from annotation.text.answers import Answers, answers_in

Asked = dict[int, list[SubQuestion]]  # by text


@dataclass(frozen=True)
class Askable:
    """The questions that a campaign can ask of each text, with the answers that are shown beside them."""

    questions: Asked
    answers: Answers
    unanswered: set[int]
    """Texts with questions, of which none has an answer to show."""


def asks_once_a_topic(campaign: Campaign) -> bool:
    """Whether all texts of a topic would ask the same: neither a text nor its answer is shown."""
    return all(rubric.stands_for_topic for rubric in campaign.rubrics())


def askable(campaign: Campaign, texts: Sequence[Text]) -> Askable:
    """What the campaign's rubrics can ask of some texts, together.

    Where one shows the answer of a pair, a pair without one is not asked. Where all show neither the
    question nor an answer, they ask about the text alone: one question stands for it, the first.
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
    return Askable(questions, answers, unanswered)


def _unfiltered(texts: Sequence[Text]) -> Asked:
    by_topic: dict[int, list[SubQuestion]] = defaultdict(list)
    for question in SubQuestion.objects.filter(
        topic__in={text.topic_id for text in texts}, filtered_because=""
    ):
        by_topic[question.topic_id].append(question)
    return {text.pk: by_topic[text.topic_id or 0] for text in texts}
