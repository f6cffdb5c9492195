"""Forms of a running campaign: extension, message, erasure, Prolific's list, review rules."""

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from annotation.form_fields import MultilineField
from annotation.form_versions import VersionedForm
from annotation.formats import prolific
from annotation.models import Campaign

MAX_EXPORT = 20 * 2**20  # bytes


class ExtendForm(forms.Form):
    hours = forms.IntegerField(min_value=1, max_value=24 * 31, initial=24)


class LinkForm(forms.Form):
    days = forms.IntegerField(
        required=False, min_value=1, max_value=366, help_text="empty: as long as the study"
    )


class MessageForm(forms.Form):
    body = MultilineField(
        label="Message",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="plain text; visible to all workers of this campaign",
    )


class ConfirmForm(forms.Form):
    """A checkbox to confirm an action that cannot be undone."""

    confirm = forms.BooleanField()


class EraseForm(ConfirmForm):
    with_notes = forms.BooleanField(required=False)


class ReconcileForm(forms.Form):
    export = forms.FileField(
        label="Prolific's export",
        help_text="on Prolific: the study, More, Download demographic data (.csv)",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )

    def clean_export(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["export"]
        if (file.size or 0) > MAX_EXPORT:
            raise ValidationError(
                "The file is larger than 20 MB, so it is not an export of one study."
            )
        try:
            self.submissions = prolific.read(file.read())
        except prolific.ProlificExportError as error:
            raise ValidationError(
                [ValidationError(problem) for problem in error.problems]
            ) from error
        return file


class ReviewRulesForm(VersionedForm):
    """Thresholds from which the reconciliation suggests a review in place of approval."""

    class Meta:
        model = Campaign
        fields = (
            *("look_skipped_percent", "look_checks_missed", "look_gold_percent"),
            *("look_gold_answers", "look_active_percent"),
        )
        labels = {
            "look_skipped_percent": "Skipped: more than, in % of the texts",
            "look_checks_missed": "Attention checks missed: more than",
            "look_gold_percent": "Gold right: less than, in %",
            "look_gold_answers": "Minimum number of gold answers",
            "look_active_percent": "Active: less than, in % of the stated minutes",
        }
        help_texts = {
            "look_skipped_percent": "empty: more than the study allows",
            "look_checks_missed": "0: one missed check is enough",
            "look_gold_percent": "0: never",
            "look_gold_answers": "fewer are not informative",
            "look_active_percent": "0: never",
        }

    def changes(self) -> str:
        """Return the changed values, old and new, for the log."""
        return ", ".join(
            f"{name} {_number(self.initial[name])} to {_number(self.cleaned_data[name])}"
            for name in self.changed_data
        )


def _number(value: int | None) -> str:
    return "empty" if value is None else str(value)
