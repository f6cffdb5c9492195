"""Forms of screening, comprehension and attention checks."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.form_fields import MultilineField
from annotation.form_versions import CHANGED, EMPTY, Conflict
from annotation.models import AttentionCheck, Campaign, CheckQuestion
from annotation.models.rubric_wording import RubricWording, campaign_wording
from annotation.row_versions import VERSION, version_of

REMOVE = "DELETE"  # the name that a formset gives to the box that takes a row out


class CheckQuestionForm(forms.Form):
    """A question with choices, before the work. A row that is left empty is ignored."""

    purpose = forms.ChoiceField(
        choices=CheckQuestion.Purpose.choices,
        initial=CheckQuestion.Purpose.COMPREHENSION,
        label="Purpose",
    )
    body = MultilineField(
        max_length=2000, label="Question", widget=forms.Textarea(attrs={"rows": 2})
    )
    options = MultilineField(
        max_length=4000,
        label="Choices",
        help_text="one on each line",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    correct = forms.IntegerField(
        min_value=1, initial=1, label="Number of the right choice", help_text="1 for the first line"
    )
    why = MultilineField(
        max_length=2000,
        required=False,
        label="Explanation",
        help_text="displayed after a wrong answer",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def clean_options(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["options"].splitlines()]
        options = [line for line in lines if line]
        if len(options) < 2:
            raise ValidationError("Enter at least two choices, one per line.")
        if len(set(options)) < len(options):
            raise ValidationError("Two choices are equal.")
        return options

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        options, correct = cleaned.get("options"), cleaned.get("correct")
        if options and correct and correct > len(options):
            self.add_error("correct", f"There are only {len(options)} choices.")
        return cleaned


class AttentionForm(forms.Form):
    """An attention check: a question that names the grade to choose."""

    body = MultilineField(
        max_length=1000, label="Question", widget=forms.Textarea(attrs={"rows": 2})
    )
    expected = forms.TypedChoiceField(coerce=int, label="Requested grade")

    def __init__(self, *args: Any, wording: RubricWording, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["expected"].choices = [  # type: ignore[attr-defined]
            ("", "choose"),
            *((grade, wording.grade_text(grade)) for grade in wording.labels()),
        ]


class Rows(forms.BaseFormSet):
    """Formset of removable rows, with an empty one at the end."""

    def add_fields(self, form: forms.Form, index: int | None) -> None:
        super().add_fields(form, index)
        if index is not None and index < self.initial_form_count():
            form.fields[REMOVE].label = "Delete this row"
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


class CheckForms:
    """The two lists of a draft's checks, each with an empty row at its end.

    They are saved as a whole, and carry the version of the whole that they were opened with, as a
    `VersionedForm` does: values that another window has saved meanwhile are shown beside those sent.
    """

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        questions, attention = _stored_questions(campaign), _stored_attention(campaign)
        self.data = data
        self.version = version_of([questions, attention])
        self.conflicts: list[Conflict] = []
        self._stored = {"Before the work": questions, "Attention checks": attention}
        self.questions = CheckQuestions(
            data, prefix="questions", initial=questions if data is None else []
        )
        self.attention = AttentionChecks(
            data,
            prefix="attention",
            form_kwargs={"wording": campaign_wording(campaign)},
            initial=attention if data is None else [],
        )

    def is_valid(self) -> bool:
        if not (self.questions.is_valid() and self.attention.is_valid()):
            if self.data is not None:  # the page has what was sent, not what was saved since
                self.version = self.data.get(VERSION, self.version)
            return False
        if self.data.get(VERSION, self.version) != self.version:
            self.conflicts = [
                Conflict(label, _format_rows(stored), _format_rows(_rows(sent)))
                for (label, stored), sent in zip(
                    self._stored.items(), (self.questions, self.attention), strict=True
                )
                if _format_rows(stored) != _format_rows(_rows(sent))
            ]
        return not self.conflicts

    def non_field_errors(self) -> list[str]:
        return [CHANGED] if self.conflicts else []


def _stored_questions(campaign: Campaign) -> list[dict[str, Any]]:
    return [
        {
            "purpose": question.purpose,
            "body": question.body,
            "options": "\n".join(question.options),
            "correct": question.correct + 1,
            "why": question.why,
        }
        for question in campaign.check_questions.all()
    ]


def _stored_attention(campaign: Campaign) -> list[dict[str, Any]]:
    return [
        {"body": check.body, "expected": check.expected}
        for check in campaign.attention_checks.all()
    ]


def _format_rows(rows: list[dict[str, Any]]) -> str:
    """Format the rows of a list for display, one below the other."""
    blocks = []
    for row in rows:
        lines = [str(row["body"])]
        options = row.get("options", [])
        options = options.splitlines() if isinstance(options, str) else options
        for number, option in enumerate(options, 1):
            lines.append(f"{number}. {option}{' (right)' if number == row['correct'] else ''}")
        if "expected" in row:
            lines.append(f"asks for {row['expected']}")
        lines += [f"Why: {row['why']}"] if row.get("why") else []
        lines += [f"For: {row['purpose']}"] if row.get("purpose") else []
        blocks.append("\n".join("\n".join(lines).splitlines()))
    return "\n\n".join(blocks) or EMPTY


def save_checks(campaign: Campaign, sent: CheckForms) -> None:
    """Replace the checks of a draft by the rows of both lists. In a transaction."""
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
        for position, row in enumerate(_rows(sent.questions))
    )
    campaign.attention_checks.all().delete()
    AttentionCheck.objects.bulk_create(
        AttentionCheck(
            campaign=campaign, position=position, body=row["body"], expected=row["expected"]
        )
        for position, row in enumerate(_rows(sent.attention))
    )


def _rows(formset: Any) -> list[dict[str, Any]]:
    return [
        form.cleaned_data
        for form in formset
        if form.cleaned_data.get("body") and not form.cleaned_data.get(REMOVE)
    ]
