"""A rubric as a form: what it asks and shows, and a row for each of its levels."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.forms.models import fields_for_model, model_to_dict
from django.http import QueryDict

from annotation.models import Rubric, RubricLevel
from annotation.models.rubric_rules import (
    MOST_LEVELS,
    OF_A_LEVEL,
    OF_A_RUBRIC,
    RubricRefused,
    store,
)

EMPTY_ROWS = 3
LABELS = {"grade": "Grade", "label": "Words", "name": "One word", "key": "Key", "colour": "Colour"}
BY_THE_MODEL = [name for name in OF_A_RUBRIC if name != "shows"]


class GuidelineForm(forms.ModelForm):
    class Meta:
        model = Rubric
        fields = ("guideline",)
        widgets = {"guideline": forms.Textarea(attrs={"rows": 24})}


class RubricForm(forms.Form):
    """All of a rubric but its levels. The rules are those of `annotation.models.rubric_rules`."""

    shows = forms.MultipleChoiceField(
        choices=Rubric.Shows.choices,
        widget=forms.CheckboxSelectMultiple,
        label="What is shown of a pair",
        initial=["text", "question"],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= fields_for_model(
            Rubric,
            BY_THE_MODEL,
            labels={
                "slug": "Its name in addresses and files",
                "eta": "Answerable from grade (η)",
                "span_from": "Words are marked from grade",
            },
            help_texts={"slug": "letters, digits, - and _"},
            widgets={
                "question": forms.Textarea(attrs={"rows": 2}),
                "guideline": forms.Textarea(attrs={"rows": 16}),
            },
        )
        self.order_fields(["slug", "title", "question", "shows"])


class LevelForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= fields_for_model(RubricLevel, OF_A_LEVEL)
        # The heads of the columns are no labels of the fields below them.
        for name, field in self.fields.items():
            label = f"{LABELS[name]}, level {int(str(self.prefix).rpartition('-')[2]) + 1}"
            field.widget.attrs["aria-label"] = label


LevelForms = forms.formset_factory(
    LevelForm, extra=EMPTY_ROWS, max_num=MOST_LEVELS, absolute_max=2 * MOST_LEVELS
)


class RubricForms:
    """The form of a rubric with the rows of its levels."""

    def __init__(self, form: RubricForm, rows: Any) -> None:
        self.form = form
        self.rows = rows

    @classmethod
    def empty(cls) -> "RubricForms":
        return cls(RubricForm(), LevelForms(prefix="levels"))

    @classmethod
    def of(cls, rubric: Rubric, **changes: Any) -> "RubricForms":
        """Filled with a rubric that is there."""
        levels = [model_to_dict(level, OF_A_LEVEL) for level in rubric.levels.all()]
        initial = model_to_dict(rubric, OF_A_RUBRIC) | changes
        return cls(RubricForm(initial=initial), LevelForms(initial=levels, prefix="levels"))

    @classmethod
    def with_more_rows(cls, sent: QueryDict) -> "RubricForms":
        """As it was typed, without a look at what is right, and with empty rows at its end."""
        rows = LevelForms(sent, prefix="levels")
        typed = [
            {name: sent.get(f"{form.prefix}-{name}", "") for name in OF_A_LEVEL} for form in rows
        ]
        initial: dict[str, Any] = {name: sent.get(name, "") for name in BY_THE_MODEL}
        initial["shows"] = sent.getlist("shows")
        rows = LevelForms(initial=[row for row in typed if any(row.values())], prefix="levels")
        return cls(RubricForm(initial=initial), rows)

    @classmethod
    def sent(cls, sent: QueryDict) -> "RubricForms":
        return cls(RubricForm(sent), LevelForms(sent, prefix="levels"))

    def store(self, before: Rubric | None = None) -> Rubric | None:
        """The rubric, made, or in the place of one before; None where something is wrong, as fields say."""
        if not (self.form.is_valid() and self.rows.is_valid()):
            return None
        filled = [row for row in self.rows if row.cleaned_data]
        kept = {"pk": before.pk, "is_retired": before.is_retired} if before else {}
        rubric = Rubric(**kept, **self.form.cleaned_data)
        try:
            return store(rubric, [RubricLevel(**row.cleaned_data) for row in filled])
        except RubricRefused as error:
            self._show(error.problems, filled)
        return None

    def _show(self, problems: Iterable[tuple[str, str]], filled: list[forms.Form]) -> None:
        for field, message in problems:
            match field.split("."):
                case ["levels", index, name]:
                    filled[int(index)].add_error(name, message)
                case _:
                    self.form.add_error(field if field in self.form.fields else None, message)
