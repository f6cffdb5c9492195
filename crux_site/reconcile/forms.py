"""Forms of the comparison with Prolific: its list of submissions, and the review rules."""

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from annotation.form_versions import VersionedForm
from annotation.formats import prolific
from annotation.models import Campaign

MAX_EXPORT = 20 * 2**20  # bytes


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
            "look_checks_missed": "Attention checks failed: more than",
            "look_gold_percent": "Gold right: less than, in %",
            "look_gold_answers": "Minimum number of gold answers",
            "look_active_percent": "Active: less than, in % of the stated minutes",
        }
        help_texts = {
            "look_skipped_percent": "empty: more than the study allows",
            "look_checks_missed": (
                "in a study of 5 minutes or more, one failed check is never enough on Prolific"
            ),
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
