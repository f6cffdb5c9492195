"""Forms of the consent page, of the check before the work, and of the survey."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.form_fields import MultilineField
from annotation.models import CheckQuestion, SurveyQuestion
from annotation.participation.survey import (
    SurveyConflictError,
    SurveyError,
    Values,
    values_version,
)
from annotation.row_versions import VERSION

ANSWER_REQUIRED = {"required": gettext_lazy("Please choose an answer.")}
MAX_TEXT = 2000  # characters of an answer in words


def _answer_field(question: CheckQuestion, **options: Any) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        label=question.body,
        choices=list(enumerate(question.options)),
        coerce=int,
        error_messages=ANSWER_REQUIRED,
        **{"widget": forms.RadioSelect, **options},
    )


class ConsentForm(forms.Form):
    """Consent, and the screening questions for those who agree.

    Answers to screening are judged at once, and not stored.
    """

    AGREE = "agree"
    decision = forms.ChoiceField(choices=[(AGREE, AGREE), ("decline", "decline")])

    def __init__(
        self, screening: Sequence[CheckQuestion] = (), data: QueryDict | None = None
    ) -> None:
        super().__init__(data)
        self.screening = {f"check-{question.pk}": question for question in screening}
        for name, question in self.screening.items():
            self.fields[name] = _answer_field(question, required=False, empty_value=None)

    @property
    def agrees(self) -> bool:
        return bool(self.cleaned_data["decision"] == self.AGREE)

    @property
    def screening_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.screening]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("decision") == self.AGREE:
            for name in self.screening:
                if cleaned.get(name) is None and name not in self.errors:
                    self.add_error(name, _("Please choose an answer."))
        return cleaned

    @property
    def passes_screening(self) -> bool:
        return all(
            self.cleaned_data[name] == question.correct for name, question in self.screening.items()
        )


class WriteForm(forms.Form):
    """Message to the researchers; `newest` is the newest message that the page displays."""

    body = MultilineField(
        label=gettext_lazy("Your message"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=gettext_lazy("Plain text, at most 2,000 characters. Your name is not needed."),
    )
    newest = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)


class DisagreeForm(WriteForm):
    """Note about a decision; `decision` is the key of the decision that the page displays."""

    decision = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["body"].label = _("Why do you disagree?")


class CheckForm(forms.Form):
    """Check questions as radios, in two steps: screening first, comprehension after it.

    The answers to screening are passed on in the second step, because nothing of them is
    stored; they are judged again there. `tries` is the number of tries that the page knows of.
    """

    tries = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    step = forms.ChoiceField(
        choices=[(kind, kind) for kind in CheckQuestion.Purpose.values], widget=forms.HiddenInput
    )

    def __init__(
        self,
        questions: Sequence[CheckQuestion],
        step: str,
        tries: int,
        data: QueryDict | None = None,
        screening_answers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(data, initial={"tries": tries, "step": step, **(screening_answers or {})})
        self.questions = {f"check-{question.pk}": question for question in questions}
        for name, question in self.questions.items():
            is_hidden = (
                step == CheckQuestion.Purpose.COMPREHENSION
                and question.purpose == CheckQuestion.Purpose.SCREENING
            )
            widget = forms.HiddenInput if is_hidden else forms.RadioSelect
            self.fields[name] = _answer_field(question, widget=widget)

    def wrong(self, purpose: str) -> list[str]:
        """Return the names of a purpose's fields whose answer is wrong."""
        return [
            name
            for name, question in self.questions.items()
            if question.purpose == purpose and self.cleaned_data.get(name) != question.correct
        ]

    def explain(self, names: Sequence[str]) -> None:
        """Add an error to each of these questions: its answer is wrong, and the reason."""
        for name in names:
            self.add_error(name, self.questions[name].why or _("This is not the right answer."))


class SurveyForm(forms.Form):
    """Questions of a survey page, with the answers that are stored.

    It carries the version of those answers; `status` is the HTTP status of its page.
    """

    def __init__(
        self, questions: Sequence[SurveyQuestion], stored: Mapping[int, Any], data: Any = None
    ) -> None:
        self.questions = {f"question-{question.pk}": question for question in questions}
        initial = {name: stored.get(question.pk) for name, question in self.questions.items()}
        super().__init__(data, initial=initial)
        # A refused page displays what was sent, and not what another tab has stored since.
        self.version = self.data.get(VERSION, values_version(dict(stored)))
        self._refused = 0
        self._other_answers: Values | None = None
        for name, question in self.questions.items():
            self.fields[name] = _survey_field(question)

    @property
    def status(self) -> int:
        return self._refused or (422 if self.errors else 200)

    def rows(self) -> list[tuple[SurveyQuestion, forms.BoundField, str]]:
        """Return the questions with their fields, and with another stored answer after a conflict."""
        return [
            (question, self[name], self._other_answer(question, name))
            for name, question in self.questions.items()
        ]

    def _other_answer(self, question: SurveyQuestion, name: str) -> str:
        """Return the stored answer as text if another one was sent; else empty."""
        if self._other_answers is None:
            return ""
        stored, sent = self._other_answers.get(question.pk), self.values().get(question.pk)
        if stored == sent:
            return ""
        labels = dict(getattr(self.fields[name], "choices", ()))
        values = stored if isinstance(stored, list) else [stored]
        return ", ".join(
            str(labels.get(value, value)) for value in values if value is not None
        ) or _("No answer")

    def values(self) -> Values:
        """Return the valid answers by the key of their question, without empty ones."""
        answers = {
            question.pk: self.cleaned_data[name] for name, question in self.questions.items()
        }
        return {pk: value for pk, value in answers.items() if value not in (None, "", [])}

    def refuse(self, error: SurveyError) -> None:
        """Add the reason why the answers are not stored.

        After a conflict the page displays the stored answers too, so it takes over their version.
        """
        self.add_error(None, str(error))
        self._refused = error.status
        if isinstance(error, SurveyConflictError):
            self._other_answers = error.stored
            self.version = values_version(error.stored)
            for question, field, other_answer in self.rows():
                if other_answer and question.kind == SurveyQuestion.Kind.TEXT:
                    field.field.widget.attrs["aria-describedby"] = f"{field.auto_id}_other"


def _survey_field(question: SurveyQuestion) -> forms.Field:
    common: dict[str, Any] = {"label": question.body, "required": question.is_required}
    kind = SurveyQuestion.Kind(question.kind)
    if kind == kind.TEXT:
        return MultilineField(
            **common,
            max_length=MAX_TEXT,
            widget=forms.Textarea(attrs={"rows": 4}),
            error_messages={"required": gettext_lazy("Please write an answer.")},
        )
    common["error_messages"] = ANSWER_REQUIRED
    if kind == kind.MULTIPLE:
        return forms.TypedMultipleChoiceField(
            **common,
            coerce=int,
            choices=list(enumerate(question.options)),
            widget=forms.CheckboxSelectMultiple,
        )
    choices: list[tuple[Any, Any]] = list(enumerate(question.options))
    if kind == kind.SCALE:
        points = [int(label) for label in question.labels()]
        ends = dict(zip((points[0], points[-1]), question.options, strict=True))
        choices = [(n, f"{n}: {ends[n]}" if n in ends else str(n)) for n in points]
    if not question.is_required:
        choices.append(("", gettext_lazy("No answer")))
    return forms.TypedChoiceField(
        **common, coerce=int, empty_value=None, choices=choices, widget=forms.RadioSelect
    )
