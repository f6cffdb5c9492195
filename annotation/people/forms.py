"""Accounts."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.password_validation import validate_password

from annotation.models import User


class NewPersonForm(BaseUserCreationForm):
    """A new account; its password is told to the person by whoever makes it."""

    class Meta:
        model = User
        fields = ("username", "role")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The form stands below the list, which is what most come to read.
        self.fields["username"].widget.attrs.pop("autofocus", None)


class PersonForm(forms.ModelForm):
    """What may be changed of an account. Its labels stay whatever happens to it."""

    new_password = forms.CharField(
        required=False,
        strip=False,
        widget=forms.PasswordInput,
        help_text="empty: the old one stays",
    )

    class Meta:
        model = User
        fields = ("role", "is_active")
        labels = {"is_active": "May log in"}
        help_texts = {"is_active": ""}

    def clean_new_password(self) -> str:
        password: str = self.cleaned_data["new_password"]
        if password:
            validate_password(password, self.instance)
        return password

    def save(self, commit: bool = True) -> User:
        if self.cleaned_data["new_password"]:
            self.instance.set_password(self.cleaned_data["new_password"])
        return super().save(commit)
