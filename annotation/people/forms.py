"""Accounts."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.password_validation import validate_password

from annotation.form_versions import VersionedForm
from annotation.models import Membership, Project, User
from annotation.models.projects import MAIN


class NewPersonForm(BaseUserCreationForm):
    """A new account; its password is told to the person by whoever makes it."""

    project = forms.ModelChoiceField(
        Project.objects.all(),
        required=False,
        to_field_name="slug",
        initial=MAIN,
        empty_label="none",
        help_text="whose datasets a researcher sees; other projects invite",
    )

    class Meta:
        model = User
        fields = ("username", "role")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields(["username", "role", "project"])
        # The form stands below the list, which is what most come to read.
        self.fields["username"].widget.attrs.pop("autofocus", None)

    def save(self, commit: bool = True) -> User:
        made: User = super().save(commit)
        project = self.cleaned_data["project"]
        if project and made.role == User.Role.RESEARCHER:
            Membership.objects.create(project=project, user=made)
        return made


class PersonForm(VersionedForm):
    """What may be changed of an account. Its labels stay whatever happens to it."""

    new_password = forms.CharField(
        required=False,
        strip=False,
        widget=forms.PasswordInput,
        help_text="empty: the old one stays",
    )
    revoke_tokens = forms.BooleanField(required=False, label="Revoke the API tokens of the account")

    class Meta:
        model = User
        fields = ("role", "is_active")
        labels = {"is_active": "May log in"}
        help_texts = {"is_active": "Without it, its invitations, shared links and tokens end."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.api_tokens.exists():
            del self.fields["revoke_tokens"]

    def clean_new_password(self) -> str:
        password: str = self.cleaned_data["new_password"]
        if password:
            validate_password(password, self.instance)
        return password

    def save(self, commit: bool = True) -> User:
        """Save the fields of the form alone: the person may log in, or change the password, meanwhile."""
        account: User = self.instance
        fields = [*self.Meta.fields]
        if self.cleaned_data["new_password"]:
            account.set_password(self.cleaned_data["new_password"])
            fields.append("password")
        account.save(update_fields=fields)
        if self.cleaned_data.get("revoke_tokens"):
            account.api_tokens.all().delete()
        return account
