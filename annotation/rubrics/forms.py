"""The guideline of a rubric, as a form."""

from django import forms

from annotation.models import Rubric


class GuidelineForm(forms.ModelForm):
    class Meta:
        model = Rubric
        fields = ("guideline",)
        widgets = {"guideline": forms.Textarea(attrs={"rows": 24})}
