"""Survey questions of a draft: the rows that are stored, replaced and copied."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.models import Campaign, SurveyQuestion

FIELDS = ("kind", "body", "options", "points", "is_required", "is_demographic", "is_separate")


def survey_row(question: SurveyQuestion) -> dict[str, Any]:
    """Return the values of a question, as they are edited and copied."""
    return {"page": question.page, **{name: getattr(question, name) for name in FIELDS}}


def replace_questions(campaign: Campaign, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace the survey of a draft by rows in order. In a transaction."""
    campaign.survey_questions.all().delete()
    positions = dict.fromkeys(SurveyQuestion.Page.values, -1)
    questions = []
    for row in rows:
        positions[row["page"]] += 1
        questions.append(SurveyQuestion(campaign=campaign, position=positions[row["page"]], **row))
    SurveyQuestion.objects.bulk_create(questions)


def copy_questions(source: Campaign, draft: Campaign) -> None:
    replace_questions(draft, [survey_row(row) for row in source.survey_questions.all()])
