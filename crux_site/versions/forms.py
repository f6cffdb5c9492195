"""New words, and what is to become of the grades that were given to the old ones."""

from typing import cast

from django import forms
from django.http import QueryDict

from annotation.models import digest

KEPT = {"yes": "count for the new words, too", "no": "are set aside with the old words"}


class WordsForm(forms.Form):
    """New words for a text or a question. `seen` is the SHA-256 of the words that the form was opened with."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    body = forms.CharField(label="Words", widget=forms.Textarea(attrs={"rows": 12}), strip=False)
    why = forms.CharField(label="Why", max_length=200, required=False)
    counts = forms.ChoiceField(
        label="Grades that were given so far", choices=list(KEPT.items()), initial="yes"
    )

    def clean_body(self) -> str:
        """As it is stored: browsers send every line end as two signs."""
        body: str = self.cleaned_data["body"]
        before: str = self.initial.get("body", "")
        if "\r" not in before:
            body = body.replace("\r\n", "\n")
        return body

    @property
    def keeps_grades(self) -> bool:
        return self.cleaned_data["counts"] == "yes"

    def again(self, current: str) -> "WordsForm":
        """The same words in a form that was opened with the current ones."""
        data = cast(QueryDict, self.data).copy()
        data["seen"] = digest(current)
        form = WordsForm(data, initial={"body": current})
        form.is_valid()
        return form
