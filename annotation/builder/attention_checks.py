"""Built-in attention checks: questions that name the grade to choose."""

from django.utils import translation
from django.utils.translation import gettext as _

from annotation.models import AttentionCheck, Campaign, Rubric
from annotation.models.rubric_wording import campaign_wording


def add_ready_made(campaign: Campaign) -> AttentionCheck:
    """Add a built-in attention check, for a grade that no other asks for yet.

    Its text is in the campaign's language, whatever the language of the page that asks for it.
    """
    rubric = campaign.rubric
    asked_grades = set(campaign.attention_checks.values_list("expected", flat=True))
    labels = campaign_wording(campaign).labels()
    grades = _middle_first(sorted(labels))
    grade = next((grade for grade in grades if grade not in asked_grades), grades[0])
    last = campaign.attention_checks.last()
    with translation.override(campaign.language):
        body = _check_text(rubric, labels, grade)
    return AttentionCheck.objects.create(
        campaign=campaign,
        position=last.position + 1 if last else 0,
        body=body,
        expected=grade,
    )


def _middle_first(grades: list[int]) -> list[int]:
    """Return ascending grades with the middle ones first, as nobody gives them to all texts."""
    middle = (len(grades) - 1) / 2
    return sorted(grades, key=lambda grade: (abs(grades.index(grade) - middle), grade))


def _check_text(rubric: Rubric, labels: dict[int, str], grade: int) -> str:
    """Return the text of a check that asks for a grade by number, or by label if nominal."""
    if len(labels) == 2:
        return _(
            "This question checks that you are reading: please choose %(grade)s, %(label)s."
        ) % {
            "grade": grade,
            "label": labels[grade],
        }
    if rubric.is_nominal:
        return _("This question checks that you are reading: please choose “%(label)s”.") % {
            "label": labels[grade]
        }
    return _("This question checks that you are reading: please choose grade %(grade)s.") % {
        "grade": grade
    }
