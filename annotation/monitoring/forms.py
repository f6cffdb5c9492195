"""Forms of a running campaign: extension, link, message, erasure."""

from django import forms

from annotation.form_fields import MultilineField


class ExtendForm(forms.Form):
    hours = forms.IntegerField(min_value=1, max_value=24 * 31, initial=24)


class LinkForm(forms.Form):
    days = forms.IntegerField(
        required=False, min_value=1, max_value=366, help_text="empty: as long as the study"
    )


class MessageForm(forms.Form):
    """Message to all workers; `newest` is the newest one that the page displays."""

    body = MultilineField(
        label="Message",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="plain text; visible to all workers of this campaign",
    )
    newest = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput
    )


class ReplyForm(forms.Form):
    """Answer to a person; `newest` is the newest message that the page displays."""

    body = MultilineField(
        label="Answer",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text="plain text; only this person reads it",
    )
    newest = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)


class ReadForm(forms.Form):
    """Marks a conversation as read, up to the newest message that the page displays."""

    newest = forms.IntegerField(min_value=0, max_value=2**31 - 1)


class ConfirmForm(forms.Form):
    """A checkbox to confirm an action that cannot be undone."""

    confirm = forms.BooleanField()


class EraseForm(ConfirmForm):
    with_notes = forms.BooleanField(required=False)
