"""Form that renames an entity of a dataset."""

from typing import Any

from django import forms

from crux_site.contents.entities import Entity


class RenameForm(forms.Form):
    def __init__(self, entity: Entity, data: Any = None) -> None:
        super().__init__(data, initial={"new": entity.name})
        self.entity = entity
        self.fields["new"] = forms.CharField(label="New name", max_length=entity.LONGEST)

    def clean_new(self) -> str:
        new: str = self.cleaned_data["new"]
        if new == self.entity.name:
            raise forms.ValidationError("This is already the name.")
        return new
