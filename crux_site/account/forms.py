"""Forms of the account page: change the password, create an API token."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.db import transaction
from django.utils import timezone

from annotation.http import AuthenticatedRequest
from annotation.models import ApiToken, User
from annotation.unique import save_unique
from crux_site.login.rate_limit import count_attempt

MOST_TOKENS = 20


class OwnPasswordForm(PasswordChangeForm):
    """Django's own. A wrong old password counts as a wrong try to log in does.

    Validation raises LogInError after too many of them, and while others are checked.
    """

    user: User
    revoke_tokens = forms.BooleanField(
        required=False,
        label="Also revoke my API tokens",
        help_text="Programs that use one need a new token.",
    )

    def __init__(self, request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(request.user, *args, **kwargs)
        self.request = request
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        if not self.user.api_tokens.exists():
            del self.fields["revoke_tokens"]

    def clean_old_password(self) -> str:
        with count_attempt(self.user.username, self.request):
            return super().clean_old_password()

    def save(self, commit: bool = True) -> User:
        super().save(commit=False)
        with transaction.atomic():
            # The rest of the row may have changed: somebody may just have disabled the account.
            self.user.save(update_fields=["password"])
            if self.cleaned_data.get("revoke_tokens"):
                self.user.api_tokens.all().delete()
        return self.user


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
        help_texts = {"name": "name of the program or machine that uses the token"}

    def make(self) -> str | None:
        """Create the token and return its key; None, with an error, if its name is taken."""
        user, name = self.instance.user, self.cleaned_data["name"]
        return save_unique(self, lambda: ApiToken.objects.make(user, name, self.expires))

    def clean(self) -> dict[str, Any]:
        tokens = self.instance.user.api_tokens
        if tokens.filter(name=self.cleaned_data.get("name", "")).exists():
            self.add_error("name", "You already have a token with this name. Revoke it first.")
        if tokens.count() >= MOST_TOKENS:
            raise forms.ValidationError(f"You have {MOST_TOKENS} tokens, which is the maximum.")
        return self.cleaned_data

    @property
    def expires(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None
