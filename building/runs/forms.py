"""Forms of a new retrieval run: its name, its recipe as a line, and its steps as fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings

from annotation.errors import UserError
from annotation.models import Dataset
from building.retrieval.recipe import LONGEST, Stage
from building.steps import Kind
from building.steps.options import ChoiceOption, Number, Option, WholeNumber
from evaluation.data.selection import one_of
from evaluation.data.sources import sources
from evaluation.models import RetrievalRun

EXAMPLE = "bm25 % 100"
DEEPEST_CUT = 9_999_999
AS_IT_IS = {"spellcheck": "false", "autocomplete": "off"}
IN_A_VALUE_NOT = ",()"  # characters that end a value
Offers = Mapping[str, Sequence[str]]


class RunForm(forms.Form):
    name = forms.CharField(
        max_length=120, help_text="letters, digits and - _ . +; used in tables and files"
    )
    recipe = forms.CharField(
        max_length=LONGEST,
        help_text="steps separated by >; % and a number truncates the ranking",
        widget=forms.TextInput(attrs=AS_IT_IS),
    )


def offers_of(dataset: Dataset) -> Offers:
    """Return the values that options may name in this dataset: judges, servers, runs."""
    runs = RetrievalRun.objects.filter(dataset=dataset).values_list("name", flat=True)
    return {
        "judge": [source.name for source in sources(dataset)],
        "server": list(settings.JUDGE_ENDPOINTS),
        "run": [name for name in runs if not set(name) & set(IN_A_VALUE_NOT)],
    }


class StageForm(forms.Form):
    """Form of a recipe step: its kind, its options, and the cut of its ranking.

    The fields of options are those of the step that is chosen, called as it and the option are. Without a
    choice, where `empty` says so, there is no step.
    """

    cut = forms.IntegerField(
        min_value=1, max_value=DEEPEST_CUT, required=False, label="Texts kept for each topic"
    )

    def __init__(
        self,
        data: Mapping[str, Any],
        prefix: str,
        kinds: Mapping[str, Kind],
        offers: Offers,
        empty: str = "",
        only: str = "",
    ) -> None:
        super().__init__(data, prefix=prefix)
        self.offers = offers
        self.name = only or str(data.get(f"{prefix}-step", ""))
        kind = kinds.get(self.name)
        self.options = kind.options if kind else ()
        if not only:
            choices = [("", empty)] if empty else []
            choices += [(name, name) for name in kinds]
            self.fields["step"] = forms.ChoiceField(
                choices=choices, required=not empty, help_text=kind.does if kind else ""
            )
        for option in self.options:
            name = self._field_name(option)
            self.fields[name] = _field(option, self._offered(option), data.get(f"{prefix}-{name}"))
        if self.name:
            self.fields["cut"] = self.fields.pop("cut")  # the last
        else:
            del self.fields["cut"]
        for name, field in self.fields.items():
            # A changed step reloads all fields; any other change only the requirements below them.
            field.widget.attrs |= {
                "hx-post": "",
                "hx-target": "#fields" if name == "step" else "#needs",
            }

    @property
    def is_chosen(self) -> bool:
        return bool(self.name)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for option in self.options:
            name = self._field_name(option)
            if value := cleaned.get(name):
                self._check(option, name, value)
        return cleaned

    def stage(self) -> Stage:
        """Return the step of the valid form."""
        values = {
            option.key: self.cleaned_data[self._field_name(option)] for option in self.options
        }
        options = tuple(sorted((key, value) for key, value in values.items() if value))
        return Stage(self.name, (), options, self.cleaned_data["cut"])

    def _check(self, option: Option, name: str, value: str) -> None:
        if set(value) & set(IN_A_VALUE_NOT):
            self.add_error(name, "Commas and brackets are not allowed.")
            return
        try:
            option.check(self.name, value)
            if option.of:
                one_of(option.of, value, self.offers[option.of])
        except UserError as error:
            self.add_error(name, str(error))

    def _field_name(self, option: Option) -> str:
        return f"{self.name}-{option.key}"

    def _offered(self, option: Option) -> Sequence[str] | None:
        return self.offers[option.of] if option.of else None


def _field(option: Option, offered: Sequence[str] | None, current: Any) -> forms.Field:
    """Build the form field of an option; left empty, the step's default applies.

    What is given and not offered is shown as it is: a line may name what there is no more.
    """
    default = f"default: {option.default}" if option.default else "none is chosen"
    widget: forms.Widget
    if isinstance(option, ChoiceOption):
        choices = [("", default), *((choice, choice) for choice in option.choices)]
        return forms.ChoiceField(
            choices=choices, required=False, label=option.key, help_text=option.says
        )
    if offered is not None:
        names = list(dict.fromkeys([*offered, *([current] if current else [])]))
        widget = forms.Select(choices=[("", default), *((name, name) for name in names)])
    elif isinstance(option, Number | WholeNumber):
        whole = {"min": 0, "step": 1}
        limits = (
            {"min": 0, "max": option.most, "step": "any"} if isinstance(option, Number) else whole
        )
        widget = forms.NumberInput(attrs={**limits, "placeholder": option.default})
    else:
        widget = forms.TextInput(attrs=AS_IT_IS)
    return forms.CharField(
        required=False, max_length=250, label=option.key, help_text=option.says, widget=widget
    )
