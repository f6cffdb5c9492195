"""Forms of the survey questions before and after the work."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.builder.forms.checks import REMOVE, Rows
from annotation.builder.survey import FIELDS, replace_questions, survey_row
from annotation.form_fields import MultilineField
from annotation.form_versions import CHANGED, EMPTY, Conflict
from annotation.models import Campaign, SurveyQuestion
from annotation.row_versions import VERSION, version_of

MAX_QUESTIONS, MAX_POINTS = 20, 11
AS_DEMOGRAPHIC, YES, NO = "", "yes", "no"
Kind = SurveyQuestion.Kind


class SurveyQuestionForm(forms.Form):
    """A survey question. A row that is left empty is ignored."""

    kind = forms.ChoiceField(choices=Kind.choices, initial=Kind.SINGLE, label="Type")
    body = MultilineField(
        max_length=2000, label="Question", widget=forms.Textarea(attrs={"rows": 2})
    )
    options = MultilineField(
        max_length=4000,
        required=False,
        label="Choices",
        help_text="one on each line; of a scale: the label of 1, and below it the label of n",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    points = forms.IntegerField(
        required=False,
        min_value=2,
        max_value=MAX_POINTS,
        label="Highest number of the scale",
        help_text=f"only for a scale: 2 to {MAX_POINTS}",
    )
    is_required = forms.BooleanField(required=False, label="An answer is required")
    is_demographic = forms.BooleanField(required=False, label="Demographic")
    is_separate = forms.ChoiceField(
        required=False,
        choices=[(AS_DEMOGRAPHIC, "if demographic"), (YES, "yes"), (NO, "no")],
        label="Keep apart from names",
        help_text="pages and exports have only the counts of its answers",
    )

    def clean_options(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["options"].splitlines()]
        return [line for line in lines if line]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        kind, options = cleaned.get("kind"), cleaned.get("options", [])
        if kind in (Kind.SINGLE, Kind.MULTIPLE):
            if len(options) < 2:
                self.add_error("options", "Enter at least two choices, one per line.")
            elif len(set(options)) < len(options):
                self.add_error("options", "Two choices are equal.")
        if kind == Kind.SCALE:
            if len(options) != 2:
                self.add_error("options", "Enter two labels: of 1, and of the highest number.")
            if cleaned.get("points") is None and "points" not in self.errors:
                self.add_error("points", "Enter the highest number of the scale.")
        return cleaned

    def row(self) -> dict[str, Any]:
        """Return the values to store; those that the kind of question does not have are empty."""
        row = {name: self.cleaned_data[name] for name in FIELDS}
        if row["kind"] == Kind.TEXT:
            row["options"] = []
        if row["kind"] != Kind.SCALE:
            row["points"] = None
        choice = row["is_separate"]
        row["is_separate"] = choice == YES or (choice == AS_DEMOGRAPHIC and row["is_demographic"])
        return row


class SurveyRows(Rows):
    """Formset of the questions of a page, in the order of their numbers."""

    def add_fields(self, form: forms.Form, index: int | None) -> None:
        super().add_fields(form, index)
        form.fields["ORDER"].label = "Place on the page"

    def clean(self) -> None:
        super().clean()
        if len(self.rows()) > MAX_QUESTIONS:
            raise ValidationError(f"A page has at most {MAX_QUESTIONS} questions.")

    def rows(self) -> list[dict[str, Any]]:
        """Return the questions to store, in order; those without a place come last."""
        filled = [
            form
            for form in self.forms
            if form.is_valid() and form.cleaned_data.get("body") and not _is_removed(form)
        ]
        return [form.row() for form in sorted(filled, key=_position_of)]


def _is_removed(form: forms.Form) -> bool:
    return bool(form.cleaned_data.get(REMOVE))


def _position_of(form: forms.Form) -> float:
    position = form.cleaned_data.get("ORDER")
    return float("inf") if position is None else position


SurveyQuestions = forms.formset_factory(
    SurveyQuestionForm,
    formset=SurveyRows,
    extra=1,
    can_delete=True,
    can_order=True,
    max_num=MAX_QUESTIONS + 1,
    absolute_max=2 * MAX_QUESTIONS,
)


class SurveyForms:
    """The questions of both pages of a draft, each list with an empty row at its end.

    They are saved as a whole, and carry the version of the whole that they were opened with, as a
    `VersionedForm` does.
    """

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        stored = [survey_row(question) for question in campaign.survey_questions.all()]
        self.data = data
        self.version = version_of(stored)
        self.conflicts: list[Conflict] = []
        self._stored = stored
        self.first_page = self._questions(SurveyQuestion.Page.BEFORE_WORK)
        self.last_page = self._questions(SurveyQuestion.Page.AFTER_WORK)

    def _questions(self, page: SurveyQuestion.Page) -> Any:
        rows = [_initial(row) for row in self._stored if row["page"] == page]
        return SurveyQuestions(
            self.data, prefix=page.value, initial=rows if self.data is None else []
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the questions of both pages to store."""
        return [
            {"page": page.value, **row}
            for page, formset in (
                (SurveyQuestion.Page.BEFORE_WORK, self.first_page),
                (SurveyQuestion.Page.AFTER_WORK, self.last_page),
            )
            for row in formset.rows()
        ]

    def is_valid(self) -> bool:
        if not (self.first_page.is_valid() and self.last_page.is_valid()):
            # The page has what was sent, and not what was saved since.
            self.version = self.data.get(VERSION, self.version)
            return False
        if self.data.get(VERSION, self.version) != self.version:
            sent = self.rows()
            pages = [
                (page, _format(self._stored, page), _format(sent, page))
                for page in SurveyQuestion.Page
            ]
            self.conflicts = [
                Conflict(f"Questions {page.label}", stored_text, sent_text)
                for page, stored_text, sent_text in pages
                if stored_text != sent_text
            ]
        return not self.conflicts

    def non_field_errors(self) -> list[str]:
        return [CHANGED] if self.conflicts else []


def _initial(row: dict[str, Any]) -> dict[str, Any]:
    separate = YES if row["is_separate"] else NO
    return row | {"options": "\n".join(row["options"]), "is_separate": separate}


def _format(rows: list[dict[str, Any]], page: SurveyQuestion.Page) -> str:
    """Format the questions of a page for display, one below the other."""
    blocks = []
    for row in rows:
        if row["page"] != page:
            continue
        lines = [row["body"], "; ".join(SurveyQuestion(**row).features)]
        lines += [f"- {option}" for option in row["options"]]
        blocks.append("\n".join("\n".join(lines).splitlines()))
    return "\n\n".join(blocks) or EMPTY


def save_survey(campaign: Campaign, sent: SurveyForms) -> None:
    """Replace the survey of a draft by the rows of both pages. In a transaction."""
    replace_questions(campaign, sent.rows())
