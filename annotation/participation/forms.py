"""Forms of the consent page and of the check before the work."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.form_fields import MultilineField
from annotation.models import CheckQuestion


def _answer_field(question: CheckQuestion, **options: Any) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        label=question.body,
        choices=list(enumerate(question.options)),
        coerce=int,
        error_messages={"required": gettext_lazy("Please choose an answer.")},
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
