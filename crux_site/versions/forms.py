"""Form of a text edit, with the choice whether existing grades stay valid."""

from typing import cast

from django import forms
from django.http import QueryDict

from annotation.models import digest

GRADE_CHOICES = {"yes": "count for the new text too", "no": "are superseded"}


class TextEditForm(forms.Form):
    """Edit of a text or question; `seen` is the SHA-256 of the wording that was opened."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    body = forms.CharField(label="Text", widget=forms.Textarea(attrs={"rows": 12}), strip=False)
    why = forms.CharField(label="Reason", max_length=200, required=False)
    counts = forms.ChoiceField(
        label="Existing grades", choices=list(GRADE_CHOICES.items()), initial="yes"
    )

    def clean_body(self) -> str:
        """Return the body with the line ends that are stored: browsers send each as CRLF."""
        body: str = self.cleaned_data["body"]
        before: str = self.initial.get("body", "")
        if "\r" not in before:
            body = body.replace("\r\n", "\n")
        return body

    @property
    def keeps_grades(self) -> bool:
        return self.cleaned_data["counts"] == "yes"

    def rebase(self, current: str) -> "TextEditForm":
        """Return the form with the same body, rebased on the current wording."""
        data = cast(QueryDict, self.data).copy()
        data["seen"] = digest(current)
        form = TextEditForm(data, initial={"body": current})
        form.is_valid()
        return form
