"""A new retrieval run, as an admin describes it."""

from django import forms

from building.retrieval.recipe import LONGEST

EXAMPLE = "bm25 % 100"


class RunForm(forms.Form):
    name = forms.CharField(
        max_length=120, help_text="letters, digits and - _ . +; it stands in tables and files"
    )
    recipe = forms.CharField(
        max_length=LONGEST,
        initial=EXAMPLE,
        help_text="steps one after another, parted by >; % and a number cuts the ranking",
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
