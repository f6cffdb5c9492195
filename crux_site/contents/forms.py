"""Another name for what is in a dataset."""

from typing import Any

from django import forms

from crux_site.contents.things import Thing


class RenameForm(forms.Form):
    def __init__(self, thing: Thing, data: Any = None) -> None:
        super().__init__(data, initial={"new": thing.name})
        self.thing = thing
        self.fields["new"] = forms.CharField(label="New name", max_length=thing.LONGEST)

    def clean_new(self) -> str:
        new: str = self.cleaned_data["new"]
        if new == self.thing.name:
            raise forms.ValidationError("It is called so already.")
        return new
