"""Forms of adjudication: decision, withdrawal and filter."""

from typing import Any

from django import forms
from django.http import QueryDict

from annotation.adjudication.differences import STATES, kinds_of
from annotation.form_fields import MultilineField
from annotation.models import Rubric
from annotation.task.forms import AnswerForm


class DecisionForm(AnswerForm):
    """Form of a decision: a grade, the words that it rests on, and a note.

    Words are ticked where a rater has marked them (or where a script has taken a selection), and
    copied from the text: positions and quotes, as in the form of an answer without scripts.
    """

    grade = forms.IntegerField(
        error_messages={
            "required": "Choose a grade.",
            "invalid": "The grade must be a whole number.",
        }
    )
    note = MultilineField(required=False, max_length=2000)
    text_sha256 = forms.CharField()

    def clean_text_sha256(self) -> str:
        if self.cleaned_data["text_sha256"] != self.text.sha256:
            raise forms.ValidationError("The text has changed since you opened the page.")
        return self.text.sha256

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        grade, spans = cleaned.get("grade"), cleaned.get("span_list", [])
        if grade is None:
            return cleaned
        if self.rubric.needs_spans(grade) and not spans:
            raise forms.ValidationError(
                f"A grade of {self.rubric.name_of(grade)} needs evidence: tick or copy at least one span."
            )
        return cleaned


class WithdrawalForm(forms.Form):
    """Form to withdraw a decision: its own key, the base that the page knows, and a note."""

    key = forms.UUIDField()
    base = forms.UUIDField(required=False)
    note = MultilineField(required=False, max_length=2000)


class FilterForm(forms.Form):
    """Filter of the listed differences by kind and state, and whether raters are named."""

    kind = forms.ChoiceField(required=False)
    state = forms.ChoiceField(required=False, choices=[("", "all"), *STATES.items()])
    names = forms.BooleanField(required=False, label="Show names")

    def __init__(self, data: QueryDict, rubric: Rubric) -> None:
        super().__init__(data)
        kinds = [("", "all kinds"), *kinds_of(rubric).items()]
        self.fields["kind"].choices = kinds  # type: ignore[attr-defined]
