"""Query parameter of the help search."""

from django import forms

LONGEST = 100


class SearchForm(forms.Form):
    q = forms.CharField(
        required=False,
        max_length=LONGEST,
        error_messages={"max_length": f"Enter at most {LONGEST} characters."},
    )
