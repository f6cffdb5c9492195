"""What is asked of whoever lets rows go."""

from typing import Any

from django import forms

from crux_site.removal import MANY


class SureForm(forms.Form):
    """The name of the dataset, typed, where many rows go; a button is enough for few."""

    name = forms.CharField(
        label="Name of the dataset", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, slug: str, n: int, *args: Any) -> None:
        super().__init__(*args)
        self.slug = slug
        if n <= MANY:
            del self.fields["name"]
        else:
            self.fields["name"].help_text = f"as in its address, {slug}: more than {MANY:,} rows go"

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.slug:
            raise forms.ValidationError(f"Type {self.slug}: nothing was removed.")
        return name
