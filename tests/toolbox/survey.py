"""A survey of each kind of question, and a short study that has it."""

from typing import Any

from annotation.models import Campaign, SurveyQuestion
from tests.toolbox.prolific_study import Walker, make_study

QUESTIONS: list[dict[str, Any]] = [
    {
        "page": "before",
        "kind": "single",
        "body": "How old are you?",
        "options": ["under 30", "30 or older"],
        "is_required": True,
        "is_demographic": True,
        "is_separate": True,
    },
    {
        "page": "before",
        "kind": "multiple",
        "body": "Which languages do you speak?",
        "options": ["English", "German", "Welsh"],
    },
    {
        "page": "after",
        "kind": "scale",
        "body": "How hard was the work?",
        "options": ["very easy", "very hard"],
        "points": 5,
        "is_required": True,
    },
    {"page": "after", "kind": "text", "body": "What was unclear?"},
]


def add_survey(campaign: Campaign, questions: list[dict[str, Any]] = QUESTIONS) -> None:
    for row in questions:
        position = campaign.survey_questions.filter(page=row["page"]).count()
        SurveyQuestion.objects.create(campaign=campaign, position=position, **row)


def make_surveyed_study(slug: str = "crowd", **options: Any) -> Campaign:
    """Create an open campaign on Prolific with a survey: one part of two texts, no practice."""
    options = {"texts": 2, "training": 0, "max_parts": 1, "raters_per_item": 9, **options}
    campaign = make_study(slug, **options)
    add_survey(campaign)
    return campaign


def survey_url(walker: Walker, page: str) -> str:
    return f"{walker.room}questions-{page}/"


def answers_to(campaign: Campaign, *answers: Any, page: str) -> dict[str, Any]:
    """Return the form data of a page's answers, in the order of its questions."""
    questions = campaign.survey_questions.filter(page=page)
    return {
        f"question-{question.pk}": answer
        for question, answer in zip(questions, answers, strict=True)
        if answer is not None
    }


def send(walker: Walker, page: str, *answers: Any, follow: bool = True, **extra: Any) -> Any:
    data = answers_to(walker.campaign, *answers, page=page) | extra
    return walker.client.post(survey_url(walker, page), data, follow=follow)
