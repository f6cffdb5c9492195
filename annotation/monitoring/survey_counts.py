"""Counts of survey answers: people by answer, without names."""

from collections import Counter
from dataclasses import dataclass

from annotation.models import Campaign, SurveyAnswer, SurveyQuestion


@dataclass(frozen=True)
class QuestionCounts:
    """Number of people who answered a question, and by answer; texts are only counted."""

    question: SurveyQuestion
    people: int
    by_answer: list[tuple[str, int]]


def survey_counts(campaign: Campaign) -> list[QuestionCounts]:
    """Return the counts of all questions of a campaign, in the order of the answers."""
    people: Counter[int] = Counter()
    counts: dict[int, Counter[str]] = {}
    questions = list(campaign.survey_questions.all())
    by_pk = {question.pk: question for question in questions}
    answers = SurveyAnswer.objects.filter(question__campaign=campaign).order_by()
    for pk, value in answers.values_list("question", "value").iterator():
        people[pk] += 1
        if by_pk[pk].kind != SurveyQuestion.Kind.TEXT:
            counts.setdefault(pk, Counter()).update(by_pk[pk].answer_labels(value))
    return [
        QuestionCounts(
            question,
            people[question.pk],
            [(label, counts.get(question.pk, Counter())[label]) for label in question.labels()],
        )
        for question in questions
    ]
