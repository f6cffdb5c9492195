"""Forms of the consent page and of the check before the work."""

from collections.abc import Sequence

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import CheckQuestion


class ConsentForm(forms.Form):
    AGREE = "agree"
    decision = forms.ChoiceField(choices=[(AGREE, AGREE), ("decline", "decline")])

    @property
    def agrees(self) -> bool:
        return bool(self.cleaned_data["decision"] == self.AGREE)


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
            self.fields[name] = forms.TypedChoiceField(
                label=question.body,
                choices=list(enumerate(question.options)),
                coerce=int,
                widget=forms.HiddenInput if is_hidden else forms.RadioSelect,
                error_messages={"required": gettext_lazy("Please choose an answer.")},
            )

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
