"""The forms of a running campaign: more time, a message, an erasure, Prolific's list."""

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from annotation.formats import prolific

MAX_EXPORT = 20 * 2**20  # bytes


class ExtendForm(forms.Form):
    hours = forms.IntegerField(min_value=1, max_value=24 * 31, initial=24)


class LinkForm(forms.Form):
    days = forms.IntegerField(
        required=False, min_value=1, max_value=366, help_text="empty: as long as the study"
    )


class MessageForm(forms.Form):
    body = forms.CharField(
        label="Message",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="plain text; every worker of this campaign sees it on their pages",
    )


class ConfirmForm(forms.Form):
    """A box that has to be ticked before something that cannot be undone."""

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
            raise ValidationError("The file is larger than 20 MB: it is no export of one study.")
        try:
            self.submissions = prolific.read(file.read())
        except prolific.BadExportError as error:
            raise ValidationError(
                [ValidationError(problem) for problem in error.problems]
            ) from error
        return file
