"""What one changes of one's own account: the password, and tokens for programs."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.utils import timezone

from annotation.models import ApiToken, User
from crux_site.login.tries import one_try

MOST_TOKENS = 20


class OwnPasswordForm(PasswordChangeForm):
    """Django's own. A wrong old password counts as a wrong try to log in does.

    Validation raises LogInRefused after too many of them, and while others are checked.
    """

    user: User

    def __init__(self, user: User, address: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.address = address
        self.fields["old_password"].widget.attrs.pop("autofocus", None)

    def clean_old_password(self) -> str:
        with one_try(self.user.username, self.address):
            return super().clean_old_password()


class NewTokenForm(forms.ModelForm):
    """A token's name, and for how long it is one."""

    days = forms.TypedChoiceField(
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year"), (0, "no end")],
        coerce=int,
        initial=90,
        label="Expires after",
    )

    class Meta:
        model = ApiToken
        fields = ("name",)
        help_texts = {"name": "of the program or machine that will carry it"}

    def clean(self) -> dict[str, Any]:
        held = self.instance.user.api_tokens
        if held.filter(name=self.cleaned_data.get("name", "")).exists():
            self.add_error("name", "You have a token of this name. Revoke it first.")
        if held.count() >= MOST_TOKENS:
            raise forms.ValidationError(f"You have {MOST_TOKENS} tokens, and no more can be had.")
        return self.cleaned_data

    @property
    def expires(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None
