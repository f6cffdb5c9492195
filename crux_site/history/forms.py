"""Confirmation form for removing rows."""

from typing import Any

from django import forms

from crux_site.removal import CONFIRM_ABOVE


class RemovalConfirmationForm(forms.Form):
    """Confirmation by the name of the dataset, typed, if many rows go; else by a button.

    `version` is of the preview that the page displays, if the form carries one.
    """

    name = forms.CharField(
        label="Name of the dataset", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, slug: str, n: int, *args: Any, version: str = "") -> None:
        super().__init__(*args)
        self.slug, self.version = slug, version
        if n <= CONFIRM_ABOVE:
            del self.fields["name"]
        else:
            self.fields["name"].help_text = (
                f"the name in its URL, {slug}, because more than {CONFIRM_ABOVE:,} rows "
                "will be removed"
            )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.slug:
            raise forms.ValidationError(f"Enter {self.slug} to confirm. Nothing was removed.")
        return name
