"""The questions that look after the work: who may take part, who understood, who is reading."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import translation
from django.utils.translation import gettext as _

from annotation.models import AttentionCheck, Campaign, CheckQuestion, Rubric
from annotation.models.wording import shown

REMOVE = "DELETE"  # the name that a formset gives to the box that takes a row out


class CheckQuestionForm(forms.Form):
    """A question with choices, before the work. A row that is left empty is none."""

    purpose = forms.ChoiceField(
        choices=CheckQuestion.Purpose.choices,
        initial=CheckQuestion.Purpose.COMPREHENSION,
        label="What it is for",
    )
    body = forms.CharField(
        max_length=2000, label="Question", widget=forms.Textarea(attrs={"rows": 2})
    )
    options = forms.CharField(
        max_length=4000,
        label="Choices",
        help_text="one on each line",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    correct = forms.IntegerField(
        min_value=1, initial=1, label="The right one", help_text="1 is the first line"
    )
    why = forms.CharField(
        max_length=2000,
        required=False,
        label="Why",
        help_text="shown after a wrong answer",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def clean_options(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["options"].splitlines()]
        options = [line for line in lines if line]
        if len(options) < 2:
            raise ValidationError("Give two choices at least, one on each line.")
        if len(set(options)) < len(options):
            raise ValidationError("Two choices are the same.")
        return options

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        options, correct = cleaned.get("options"), cleaned.get("correct")
        if options and correct and correct > len(options):
            self.add_error("correct", f"There are {len(options)} choices.")
        return cleaned


class AttentionForm(forms.Form):
    """A question that says itself what to answer."""

    body = forms.CharField(
        max_length=1000, label="Question", widget=forms.Textarea(attrs={"rows": 2})
    )
    expected = forms.TypedChoiceField(coerce=int, label="The grade that it asks for")

    def __init__(self, *args: Any, labels: dict[int | None, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["expected"].choices = [  # type: ignore[attr-defined]
            ("", "choose"),
            *((grade, f"{grade} {label}") for grade, label in labels.items()),
        ]


class Rows(forms.BaseFormSet):
    """Rows of which each can be taken out, and the last is there to be filled."""

    def add_fields(self, form: forms.Form, index: int | None) -> None:
        super().add_fields(form, index)
        if index is not None and index < self.initial_form_count():
            form.fields[REMOVE].label = "Take this one out"
        else:
            del form.fields[REMOVE]


CheckQuestions = forms.formset_factory(
    CheckQuestionForm,
    formset=Rows,
    extra=1,
    can_delete=True,
    max_num=50,
    validate_max=True,
    absolute_max=100,
)
AttentionChecks = forms.formset_factory(
    AttentionForm,
    formset=Rows,
    extra=1,
    can_delete=True,
    max_num=50,
    validate_max=True,
    absolute_max=100,
)


def check_forms(campaign: Campaign, data: Any = None) -> tuple[Any, Any]:
    """The two lists of a draft's checks, each with an empty row at its end.

    What was sent is compared with nothing: every row that is filled in counts, also one that
    another window has saved meanwhile.
    """
    asked = [] if data is not None else list(campaign.check_questions.all())
    questions = CheckQuestions(
        data,
        prefix="questions",
        initial=[
            {
                "purpose": question.purpose,
                "body": question.body,
                "options": "\n".join(question.options),
                "correct": question.correct + 1,
                "why": question.why,
            }
            for question in asked
        ],
    )
    written = [] if data is not None else list(campaign.attention_checks.all())
    attention = AttentionChecks(
        data,
        prefix="attention",
        form_kwargs={"labels": shown(campaign).labels()},
        initial=[{"body": check.body, "expected": check.expected} for check in written],
    )
    return questions, attention


def save_checks(campaign: Campaign, questions: Any, attention: Any) -> None:
    """Put the rows of both lists in place of what a draft had. In a transaction."""
    campaign.check_questions.all().delete()
    CheckQuestion.objects.bulk_create(
        CheckQuestion(
            campaign=campaign,
            position=position,
            purpose=row["purpose"],
            body=row["body"],
            options=row["options"],
            correct=row["correct"] - 1,
            why=row["why"],
        )
        for position, row in enumerate(_rows(questions))
    )
    campaign.attention_checks.all().delete()
    AttentionCheck.objects.bulk_create(
        AttentionCheck(
            campaign=campaign, position=position, body=row["body"], expected=row["expected"]
        )
        for position, row in enumerate(_rows(attention))
    )


def _rows(formset: Any) -> list[dict[str, Any]]:
    return [
        form.cleaned_data
        for form in formset
        if form.cleaned_data.get("body") and not form.cleaned_data.get(REMOVE)
    ]


def add_ready_made(campaign: Campaign) -> AttentionCheck:
    """One more attention check in our own words, for a grade that none of them asks for yet.

    Its words are in the campaign's language, whatever the language of the page that asks for it.
    """
    rubric = campaign.rubric
    asked = set(campaign.attention_checks.values_list("expected", flat=True))
    grades = _middle_first(rubric)
    grade = next((grade for grade in grades if grade not in asked), grades[0])
    last = campaign.attention_checks.last()
    with translation.override(campaign.language):
        body = _ready_made(rubric, shown(campaign).labels(), grade)
    return AttentionCheck.objects.create(
        campaign=campaign,
        position=last.position + 1 if last else 0,
        body=body,
        expected=grade,
    )


def _middle_first(rubric: Rubric) -> list[int]:
    """The grades of a rubric, those first that nobody gives to everything."""
    grades = rubric.grades()
    middle = (len(grades) - 1) / 2
    return sorted(grades, key=lambda grade: (abs(grades.index(grade) - middle), grade))


def _ready_made(rubric: Rubric, labels: dict[int | None, str], grade: int) -> str:
    """It asks for a grade as raters see it: by its number, and where grades are names by its words."""
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
