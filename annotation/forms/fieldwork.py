"""What staff send while a study runs: more time, a message, names for links, Prolific's list."""

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from annotation.importers import prolific

MAX_LINKS = 500
MAX_NAME = 200
MAX_EXPORT = 20 * 2**20  # bytes


class ExtendForm(forms.Form):
    hours = forms.IntegerField(min_value=1, max_value=24 * 31, initial=24)


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


class LinksForm(forms.Form):
    """Who gets a link: names one a line, or how many for people without a name."""

    names = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="one a line; who has a link already keeps it",
    )
    number = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_LINKS,
        help_text="or so many links without a name",
    )

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        names = [name.strip() for name in cleaned.get("names", "").splitlines()]
        names = list(dict.fromkeys(filter(None, names)))
        number = cleaned.get("number")
        if not self.errors:
            if bool(names) == bool(number):
                raise ValidationError("Either names or a number of links, one of the two.")
            if len(names) > MAX_LINKS:
                raise ValidationError(f"{MAX_LINKS} names at a time at most, not {len(names)}.")
            for line, name in enumerate(names, start=1):
                if len(name) > MAX_NAME:
                    raise ValidationError(f"Name {line} is longer than {MAX_NAME} characters.")
        cleaned["wanted"] = names or [""] * (number or 0)
        return cleaned


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
